import { expect, test } from "vitest";
import { indexAfter } from "./useStablePosition";

const rows = (ids: string) => [...ids].map((id) => ({ id }));

test("a row is found where it is after others came before it", () => {
  expect(indexAfter(rows("abcd"), rows("xyabcd"), 2)).toBe(4);
});

test("a row that is gone is replaced by the next one", () => {
  expect(indexAfter(rows("abcd"), rows("abd"), 2)).toBe(1);
});

test("a row keeps its place where nothing changed above it", () => {
  expect(indexAfter(rows("abcd"), rows("abcde"), 2)).toBe(2);
  expect(indexAfter(rows("abcd"), rows("xyz"), 2)).toBeNull();
});
