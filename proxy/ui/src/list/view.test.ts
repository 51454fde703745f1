import { expect, test } from "vitest";
import type { Template, View } from "../api/queries";
import { savedSearch, stateOfView } from "./view";

const template = {
  attributes: [{ id: "1", slug: "city", type: "string", label: null, required: false, indexed: false }],
  display: null,
} as unknown as Template;

const stateOf = (query: View["query"]) =>
  stateOfView({ slug: "big", label: null, query, sql_view: null, created_at: "", updated_at: "" }, template);

const bern = { field: "city", operator: "eq" as const, value: "Bern" };
const rich = { field: "credit", operator: "gt" as const, value: 5 };

test("filters and groups of a view become conditions that must all match", () => {
  const { conditions } = stateOf({ filters: [rich], filter_groups: [[bern], [rich, bern]] });
  expect(conditions).toEqual([rich, { or: [bern, { and: [rich, bern] }] }]);
  expect(stateOf({ filter_groups: [[bern]] }).conditions).toEqual([bern]);
});

test("sort is parsed in each of its forms", () => {
  const sort = [
    { field: "city", isDescending: true },
    { field: "name", isDescending: false },
  ];
  expect(stateOf({ sort: "-city, name" }).sort).toEqual(sort);
  expect(stateOf({ sort: [{ field: "city", direction: "desc" }, "name"] }).sort).toEqual(sort);
});

test("fields of the template become columns", () => {
  expect(stateOf({ fields: "city, gone" }).columns).toEqual([{ id: "city" }]);
  expect(stateOf({}).columns).toBeNull();
});

test("days of a view are in its time zone, not the user's", () => {
  const filters = [{ field: "seen", operator: "today" as const }];
  const zoneOf = (query: View["query"]) => savedSearch(stateOf(query)).time_zone;
  expect(zoneOf({ filters, time_zone: "Asia/Tokyo" })).toBe("Asia/Tokyo");
  expect(zoneOf({ filters })).toBeUndefined();
});
