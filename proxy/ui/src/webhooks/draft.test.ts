import { expect, test } from "vitest";
import { changesOf, type Draft, draftOf, isComplete, membersOf, NEW } from "./draft";
import type { Endpoint } from "./queries";

const endpoint: Endpoint = {
  id: "1",
  project: "crm",
  slug: "shop",
  url: "https://shop.example.com/hooks",
  templates: ["customers"],
  operations: ["update", "create"],
  filter: { filters: [{ field: "city", operator: "eq", value: "Bern" }] } as never,
  role: "sales",
  include_record: true,
  enabled: true,
};
const saved = draftOf(endpoint);

test("definition round-trips through the draft", () => {
  const { slug, url, templates, filter, role, include_record } = endpoint;
  const operations = ["create", "update"];
  expect(membersOf(saved)).toEqual({ slug, url, templates, operations, filter, role, include_record });
  expect(changesOf(saved, draftOf(endpoint))).toEqual({});
});

test("only changed members are sent", () => {
  const draft: Draft = { ...saved, url: " https://other.example.com ", conditions: null };
  expect(changesOf(draft, saved)).toEqual({ url: "https://other.example.com", filter: null });
});

test("selecting all templates removes the filter", () => {
  expect(changesOf({ ...saved, templates: null }, saved)).toEqual({ templates: null, filter: null });
});

test("new endpoint delivers everything", () => {
  expect(membersOf({ ...NEW, slug: "a" })).toMatchObject({ templates: null, operations: null, filter: null });
});

test("draft with an empty choice is incomplete", () => {
  expect(isComplete(NEW)).toBe(true);
  expect(
    [{ templates: [] }, { operations: [] }, { conditions: [] }].map((it) => isComplete({ ...NEW, ...it })),
  ).toEqual([false, false, false]);
});
