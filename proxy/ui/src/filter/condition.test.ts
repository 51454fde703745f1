import { expect, test } from "vitest";
import type { Json } from "../api/json";
import {
  type Condition,
  comparisonsOf,
  conditionsOfScope,
  conditionsOfSearch,
  containDay,
  isCondition,
  splitAtCommas,
  valuesOf,
} from "./condition";

const bern: Condition = { field: "city", operator: "eq", value: "Bern" };
const rich: Condition = { field: "credit", operator: "gt", value: 5 };

test("filters and groups become one list of conditions that must all match", () => {
  expect(conditionsOfSearch({ filters: [bern], filter_groups: [[bern], [rich, bern]] })).toEqual([
    bern,
    { or: [bern, { and: [rich, bern] }] },
  ]);
  expect(conditionsOfSearch({ filter_groups: [[rich, bern]] })).toEqual([rich, bern]);
  expect(conditionsOfSearch({ filter_groups: [] })).toEqual([]);
  expect(conditionsOfSearch({})).toEqual([]);
});

test("scope is filters, a list of conditions, or one condition", () => {
  expect(conditionsOfScope({ filters: [bern], filter_groups: [[rich]] })).toEqual([bern, rich]);
  expect(conditionsOfScope([bern, rich])).toEqual([bern, rich]);
  expect(conditionsOfScope({ not: bern })).toEqual([{ not: bern }]);
  expect(conditionsOfScope(null)).toEqual([]);
  expect(conditionsOfScope({})).toEqual([]);
});

test("text of several values is split as by the service", () => {
  expect(splitAtCommas('red, "dark, blue", "27"" wheels" ')).toEqual(["red", "dark, blue", '27" wheels']);
  expect(splitAtCommas("1,2")).toEqual(["1", "2"]);
  expect(splitAtCommas('a,"')).toBeNull();
  expect(splitAtCommas("a,,b")).toBeNull();
  expect(splitAtCommas("a,")).toBeNull();
  expect(splitAtCommas('"a" b')).toBeNull();
  expect(splitAtCommas('""')).toEqual([""]);
});

test("values are split, or cannot be separated", () => {
  expect(valuesOf({ field: "a", operator: "in", value: "x,y" })).toEqual(["x", "y"]);
  expect(valuesOf({ field: "a", operator: "eq", value: "x,y" })).toEqual(["x,y"]);
  expect(valuesOf({ field: "a", operator: "in", value: "[1,2]" })).toBeNull();
  expect(valuesOf({ field: "a", operator: "eq", value: ["x"] })).toBeNull();
  expect(valuesOf({ field: "a", operator: "eq" })).toBeNull();
  expect(valuesOf({ field: "a", operator: "empty", value: "x" })).toEqual([]);
});

test("condition has one of four forms", () => {
  expect(isCondition({ or: [bern, { not: { and: [rich] } }] })).toBe(true);
  for (const wrong of [
    null,
    1,
    [],
    {},
    { field: 1 },
    { field: "a", operator: "is" },
    { or: bern },
    { or: [], and: [] },
    { ...bern, extra: 1 },
  ])
    expect(isCondition(wrong)).toBe(false);
});

test("comparisons are found at every level", () => {
  expect(comparisonsOf([bern, { or: [{ not: rich }, { and: [bern] }] }])).toEqual([bern, rich, bern]);
});

test("conditions that contain a day depend on the time zone", () => {
  const isDay = (operator: "today" | "eq" | "between", value?: Json) =>
    containDay([
      { not: { or: [bern, { field: "seen", operator, ...(value === undefined ? {} : { value }) }] } },
    ]);
  expect(isDay("today")).toBe(true);
  expect(isDay("eq", "2024-05-02")).toBe(true);
  expect(isDay("between", ["2024-05-01T00:00:00Z", "2024-05-02"])).toBe(true);
  expect(isDay("between", "2024-05-01, 2024-05-02")).toBe(true);
  expect(isDay("eq", "2024-05-01T00:00:00Z")).toBe(false);
  expect(containDay([bern, rich])).toBe(false);
});
