import { expect, test } from "vitest";
import { indexAfter } from "./useStablePosition";

const rows = (ids: string) => [...ids].map((id) => ({ id }));

test("index of a row follows rows added before it", () => {
  expect(indexAfter(rows("abcd"), rows("xyabcd"), 2)).toBe(4);
});

test("removed row is replaced by the next one", () => {
  expect(indexAfter(rows("abcd"), rows("abd"), 2)).toBe(1);
});

test("row keeps its index if nothing changed above it", () => {
  expect(indexAfter(rows("abcd"), rows("abcde"), 2)).toBe(2);
  expect(indexAfter(rows("abcd"), rows("xyz"), 2)).toBeNull();
});
