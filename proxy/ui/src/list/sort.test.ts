import { expect, test } from "vitest";
import { reversed, sortAfterClick, withSort } from "./sort";

const up = { field: "city", isDescending: false };
const down = { field: "city", isDescending: true };
const price = { field: "price", isDescending: false };

test("header sorts ascending, then descending, then not at all", () => {
  expect(sortAfterClick([], "city", false)).toEqual([up]);
  expect(sortAfterClick([up], "city", false)).toEqual([down]);
  expect(sortAfterClick([down], "city", false)).toEqual([]);
});

test("click replaces the sort, Shift+click adds to it", () => {
  expect(sortAfterClick([up], "price", false)).toEqual([price]);
  expect(sortAfterClick([up], "price", true)).toEqual([up, price]);
  expect(sortAfterClick([up, price], "city", true)).toEqual([down, price]);
  expect(sortAfterClick([down, price], "city", true)).toEqual([price]);
});

test("sort has at most five fields", () => {
  const five = ["a", "b", "c", "d", "e"].map((field) => ({ field, isDescending: false }));
  expect(sortAfterClick(five, "city", true).map(({ field }) => field)).toEqual(["b", "c", "d", "e", "city"]);
});

test("reversed sort of the same field keeps the start value", () => {
  const state = { sort: [up, price], start: "M", isDeleted: false };
  expect(withSort(state, [down])).toEqual({ sort: [down], start: "M" });
  expect(withSort(state, [price])).toEqual({ sort: [price], start: null });
  expect(withSort(state, [])).toEqual({ sort: [], start: null });
});

test("end of a list is its beginning in reverse order", () => {
  const end = (sort: (typeof up)[], isDeleted = false) => reversed({ sort, start: "M", isDeleted });
  expect(end([up, { ...price, isDescending: true }])).toEqual({ sort: [down, price], start: null });
  expect(end([]).sort).toEqual([{ field: "created_at", isDescending: false }]);
  expect(end([], true).sort).toEqual([{ field: "deleted_at", isDescending: false }]);
});
