import { expect, test } from "vitest";
import { INITIAL, listBody, matchingBody, mayHaveTypo, modesOf, OF_PROJECT, searchBody } from "./state";

const down = { field: "city", isDescending: true };
const price = { field: "price", isDescending: false };

test("full-text search has a sort, search by meaning has none", () => {
  const state = { ...INITIAL, search: " river ", sort: [down, price] };
  expect(searchBody(state)).toEqual({ global_search: "river", sort: "-city,price" });
  expect(searchBody({ ...state, mode: "meaning" })).toEqual({ mode: "semantic", query_text: "river" });
  expect(searchBody({ ...state, mode: "both" })).toEqual({
    mode: "hybrid",
    query_text: "river",
    global_search: "river",
  });
});

test("typo tolerance needs words of five letters in a text search", () => {
  const found = (search: string) => mayHaveTypo({ ...INITIAL, search });
  expect(["vermer", "of vermer", "(Zürch)", "zu\u0308rch"].map(found)).toEqual([true, true, true, true]);
  expect(["", "verm", "a be cd", "12345", "ab1cd"].map(found)).toEqual([false, false, false, false, false]);
  expect(mayHaveTypo({ ...INITIAL, search: "vermer", mode: "both" })).toBe(false);
  expect(mayHaveTypo({ ...INITIAL, search: "vermer", isDeleted: true })).toBe(false);
  expect(searchBody({ ...INITIAL, search: "vermer", isNear: true })).toEqual({
    global_search: "vermer",
    fuzzy: "auto",
  });
});

test("search without text is not ranked", () => {
  expect(searchBody({ ...INITIAL, search: "  ", mode: "meaning", sort: [price] })).toEqual({ sort: "price" });
});

test("search by meaning requires an embedding provider and embedded attributes", () => {
  const all = ["words", "meaning", "both"];
  expect(modesOf(true, ["title"], "words")).toEqual(all);
  expect(modesOf(false, ["title"], "words")).toEqual(["words"]);
  expect(modesOf(true, null, "words")).toEqual(["words"]);
  expect(modesOf(true, [], "words")).toEqual(["words"]);
  expect(modesOf(true, null, "meaning")).toEqual(all);
  expect(modesOf(false, ["title"], "meaning")).toEqual(["words"]);
});

test("deleted records are searched only by filters", () => {
  const state = { ...INITIAL, isDeleted: true, search: "river", mode: "both" as const };
  const bern = { field: "city", operator: "eq" as const, value: "Bern" };
  expect(searchBody({ ...state, conditions: [bern], sort: [price] })).toEqual({
    include_deleted: true,
    filters: [bern, { field: "deleted_at", operator: "not-empty" }],
    sort: "price",
  });
});

test("day is in the user's time zone, unless the view specifies one", () => {
  const zoneOf = (operator: "today" | "empty", timeZone: string | null) =>
    searchBody({ ...INITIAL, conditions: [{ field: "seen", operator }], timeZone }).time_zone;
  expect(zoneOf("today", null)).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
  expect(zoneOf("today", "Asia/Tokyo")).toBe("Asia/Tokyo");
  expect(zoneOf("today", OF_PROJECT)).toBeUndefined();
  expect(zoneOf("empty", null)).toBeUndefined();
});

test("list starts at a value of its first sort field, in sort order", () => {
  const from = (sort: typeof down) => searchBody({ ...INITIAL, sort: [sort, price], start: "M" }).filters;
  expect(from({ ...down, isDescending: false })).toEqual([{ field: "city", operator: "gte", value: "M" }]);
  expect(from(down)).toEqual([{ field: "city", operator: "lte", value: "M" }]);
  expect(searchBody({ ...INITIAL, start: "M" }).filters).toBeUndefined();
});

test("start is added to the filters, with the user's time zone for a day", () => {
  const bern = { field: "city", operator: "eq" as const, value: "Bern" };
  const seen = { field: "seen", isDescending: false };
  const body = searchBody({ ...INITIAL, conditions: [bern], sort: [seen], start: "2024-05-01" });
  expect(body.filters).toEqual([bern, { field: "seen", operator: "gte", value: "2024-05-01" }]);
  expect(body.time_zone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
});

test("ranked list has no start value", () => {
  const state = { ...INITIAL, search: "river", mode: "both" as const, sort: [price], start: "5" };
  expect(searchBody(state).filters).toBeUndefined();
});

test("changed records are requested with the list's search, without its page", () => {
  const list = listBody({ ...INITIAL, search: "river", conditions: [{ field: "city", operator: "empty" }] }, [
    "city",
  ]);
  expect(matchingBody(list, false, ["1", "2"])).toEqual({
    global_search: "river",
    filters: [
      { field: "city", operator: "empty" },
      { field: "id", operator: "in", value: ["1", "2"] },
    ],
    fields: ["city"],
    verbose: true,
    limit: 2,
  });
});

test("changed records of a ranked list are requested without its text", () => {
  const list = listBody({ ...INITIAL, search: "river", mode: "both" }, null);
  expect(matchingBody(list, true, ["1"])).toEqual({
    filters: [{ field: "id", operator: "in", value: ["1"] }],
    verbose: true,
    limit: 1,
  });
});
