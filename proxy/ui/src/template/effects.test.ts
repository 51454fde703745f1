import { expect, test } from "vitest";
import type { Attribute, Template, View } from "../api/queries";
import { draftOf } from "./draft";
import { effectsOf, effectsOfDrop, effectsOfSettings, settingsOf, viewsWith } from "./effects";

const city: Attribute = {
  id: "1",
  slug: "city",
  type: "string",
  label: "City",
  required: false,
  indexed: false,
};
const template = {
  attributes: [city],
  display: "city",
  language: "english",
  label: "X",
  embed: null,
} as Template;
const facts = { records: 1200, filled: 1100, views: [] };
const kinds = (effects: { kind: string }[]) => effects.map(({ kind }) => kind);
const change = (more: Partial<ReturnType<typeof draftOf>>) =>
  effectsOf(template, city, { ...draftOf(city), ...more }, facts);

test("an untouched draft has no effect", () => {
  expect(change({})).toEqual([]);
  expect(effectsOfSettings(template, settingsOf(template), 5)).toEqual([]);
});

test("a required attribute with empty records is refused before it is sent", () => {
  expect(change({ required: true })[0]?.text).toContain("100 records");
  expect(kinds(change({ required: true }))).toEqual(["refusal"]);
});

test("a rename warns of what is outside", () => {
  expect(kinds(change({ slug: "town" }))).toEqual(["plain", "attention", "plain"]);
});

test("a drop counts values, and a view that uses the attribute prevents it", () => {
  const view = { slug: "bern", label: null, query: { filters: [{ field: "city" }] } } as unknown as View;
  expect(effectsOfDrop(template, city, facts)[0]?.text).toContain("1,100 values of City");
  expect(kinds(effectsOfDrop(template, city, { ...facts, views: [view] }))[0]).toBe("refusal");
});

test("views name attributes in filters, sorts, fields and behind references, not in values", () => {
  const view = (query: unknown) => ({ slug: "v", query }) as View;
  const uses = (query: unknown) => viewsWith([view(query)], "city").length > 0;
  expect(uses({ sort: "-city,name" })).toBe(true);
  expect(uses({ filter_groups: [[{ not: { field: "city.country", operator: "empty" } }]] })).toBe(true);
  expect(uses({ filters: [{ field: "name", operator: "eq", value: "city" }] })).toBe(false);
  expect(uses({ sort: "city_code" })).toBe(false);
});

test("a new required attribute needs a default where records exist", () => {
  const draft = { ...draftOf(city), slug: "new", required: true };
  expect(kinds(effectsOf(template, null, draft, facts))).toEqual(["refusal"]);
  expect(kinds(effectsOf(template, null, { ...draft, default: "x" }, facts))).toEqual(["plain"]);
  expect(kinds(effectsOf(template, null, draft, { ...facts, records: 0 }))).toEqual(["plain"]);
});
