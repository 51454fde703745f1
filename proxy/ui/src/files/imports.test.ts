import { expect, test } from "vitest";
import { rowsDone } from "./imports";

const file = { size: 1000 };
const counts = (rows: number) => ({ rows, created: rows, updated: 0, unchanged: 0, failed: 0 });

test("progress is the service's row count, or an estimate from the bytes sent", () => {
  expect(rowsDone({ file, total: 50, sent: 500, counts: null })).toBe(25);
  expect(rowsDone({ file, total: 50, sent: 500, counts: counts(30) })).toBe(30);
  expect(rowsDone({ file, total: 50, sent: 1000, counts: counts(30) })).toBe(30);
});

test("file that is sent but not counted has no known progress", () => {
  expect(rowsDone({ file, total: 50, sent: 1000, counts: null })).toBeNull();
});
