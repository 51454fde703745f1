import { expect, test } from "vitest";
import { bySlug, isSameSearch, isSlug, type SavedSearch, searchToSave, slugFor } from "./view";

const bern = { field: "city", operator: "eq" as const, value: "Bern" };
const rich = { field: "credit", operator: "gt" as const, value: 5 };

test.each<[string, SavedSearch, SavedSearch]>([
  ["a group of one and a filter", { filters: [bern] }, { filter_groups: [[bern]] }],
  [
    "groups and any of",
    { filter_groups: [[bern], [rich, bern]] },
    { filters: [{ or: [bern, { and: [rich, bern] }] }] },
  ],
  [
    "a sort as text and as objects",
    { sort: "-city, credit" },
    { sort: [{ field: "city", direction: "desc" }, { field: "credit" }] },
  ],
  ["fields as text and as array", { fields: "city, name" }, { fields: ["city", "name"] }],
  ["how many are asked for", { limit: 5, count: "exact", facets: ["city"], verbose: true }, {}],
  ["with wrong letters and without", { global_search: "a", fuzzy: "auto" }, { global_search: "a" }],
  [
    "what is left out and what is empty",
    { global_search: "", filters: [], mode: "keyword", attribute_key: "slug" },
    {},
  ],
])("%s are the same search", (_, a, b) => expect(isSameSearch(a, b)).toBe(true));

test.each<[string, SavedSearch, SavedSearch]>([
  ["value", { filters: [bern] }, { filters: [{ ...bern, value: "Basel" }] }],
  ["order of conditions", { filters: [bern, rich] }, { filters: [rich, bern] }],
  ["order of the sort", { sort: "city,credit" }, { sort: "credit,city" }],
  ["place of nulls", { sort: "city" }, { sort: [{ field: "city", nulls: "first" }] }],
  ["columns", { fields: ["city"] }, {}],
  ["words", { global_search: "a" }, {}],
])("another %s makes another search", (_, a, b) => expect(isSameSearch(a, b)).toBe(false));

test("text view tolerates typos", () => {
  const saved: SavedSearch = { global_search: "vermer", fuzzy: "auto" };
  expect(searchToSave({ global_search: "delft" }, saved)).toEqual({ global_search: "delft", fuzzy: "auto" });
  expect(searchToSave({ query_text: "delft", mode: "semantic" }, saved)).not.toHaveProperty("fuzzy");
});

test("updated view keeps members unknown to the list", () => {
  const saved: SavedSearch = { limit: 5, time_zone: "Europe/Zurich", sort: "city", filters: [bern] };
  expect(searchToSave({ filters: [rich] }, saved)).toEqual({
    limit: 5,
    time_zone: "Europe/Zurich",
    filters: [rich],
  });
});

test("slug consists of the letters and digits of a label", () => {
  expect(slugFor("Réguliers, Bern")).toBe("reguliers_bern");
  expect(slugFor("2024: new!")).toBe("new");
  expect(slugFor("ไทย")).toBe("");
  expect(isSlug(slugFor("x".repeat(99)))).toBe(true);
});

test("attribute ids in a search become slugs", () => {
  const templates = [
    { attributes: [{ id: "7", slug: "artist" }] },
    { attributes: [{ id: "9", slug: "name" }] },
  ];
  const filters: SavedSearch["filters"] = [
    { or: [{ field: "7.9", operator: "empty" }, { not: { field: "external_key", operator: "empty" } }] },
  ];
  const search: SavedSearch = { attribute_key: "id", filters, sort: "-7, external_key", fields: "7,7.9" };
  expect(bySlug(search, templates)).toEqual({
    filters: [
      {
        or: [
          { field: "artist.name", operator: "empty" },
          { not: { field: "external_key", operator: "empty" } },
        ],
      },
    ],
    sort: ["-artist", "external_key"],
    fields: ["artist", "artist.name"],
  });
  expect(bySlug({ filters, sort: "7" }, templates)).toEqual({ filters, sort: "7" });
});

test("time zone of a search matters only if it contains a day", () => {
  const today = { filters: [{ field: "seen", operator: "today" as const }] };
  const tokyo = { time_zone: "Asia/Tokyo" };
  expect(isSameSearch({ ...today, ...tokyo }, today)).toBe(false);
  expect(isSameSearch({ ...today, ...tokyo }, { ...today, ...tokyo })).toBe(true);
  expect(isSameSearch({ filters: [bern], ...tokyo }, { filters: [bern] })).toBe(true);
});
