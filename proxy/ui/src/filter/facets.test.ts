import { expect, test } from "vitest";
import type { Condition } from "./condition";
import { shownValues, toggleFacetValue, withoutFacet } from "./facets";

const city = { slug: "city", type: "string" as const };
const paid = { slug: "paid", type: "boolean" as const };
const rich: Condition = { field: "credit", operator: "gt", value: 5 };
const cities = (...value: string[]): Condition => ({ field: "city", operator: "in", value });

test("click adds, extends, reduces and removes a chip", () => {
  expect(toggleFacetValue([rich], city, "Bern")).toEqual([rich, cities("Bern")]);
  expect(toggleFacetValue([cities("Bern"), rich], city, "Basel")).toEqual([cities("Bern", "Basel"), rich]);
  expect(toggleFacetValue([cities("Bern", "Basel")], city, "Bern")).toEqual([cities("Basel")]);
  expect(toggleFacetValue([cities("Bern"), rich], city, "Bern")).toEqual([rich]);
});

test("chips with equals or text values are extended", () => {
  expect(toggleFacetValue([{ field: "city", operator: "eq", value: "Bern" }], city, "Basel")).toEqual([
    cities("Bern", "Basel"),
  ]);
  expect(toggleFacetValue([{ field: "city", operator: "in", value: "Bern, Basel" }], city, "Bern")).toEqual([
    cities("Basel"),
  ]);
});

test("other conditions on the attribute are unchanged", () => {
  const not: Condition = { field: "city", operator: "neq", value: "Bern" };
  expect(toggleFacetValue([not], city, "Basel")).toEqual([not, cities("Basel")]);
  expect(withoutFacet([not, cities("Basel"), rich], "city")).toEqual([not, rich]);
});

test("filter by one boolean value is an equality", () => {
  expect(toggleFacetValue([], paid, true)).toEqual([{ field: "paid", operator: "eq", value: true }]);
  expect(toggleFacetValue([{ field: "paid", operator: "eq", value: "true" }], paid, true)).toEqual([]);
});

test("rare and long text values are not offered, filtered values are", () => {
  const values = [
    { value: "Bern", count: 9 },
    { value: "x".repeat(99), count: 5 },
    { value: "Rare", count: 1 },
    { value: "Odd", count: 1 },
  ];
  expect(shownValues(values, city, ["Odd", "Gone"]).map((it) => [it.name, it.count, it.isOn])).toEqual([
    ["Bern", 9, false],
    ["Odd", 1, true],
    ["Gone", 0, true],
  ]);
});

test("at most twenty values are shown", () => {
  const values = Array.from({ length: 100 }, (_, n) => ({ value: `v${n}`, count: 200 - n }));
  expect(shownValues(values, { type: "list" }, [])).toHaveLength(20);
  expect(shownValues(values, { type: "list" }, ["v99"]).map((it) => it.name)).toContain("v99");
});
