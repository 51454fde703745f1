import { expect, test } from "vitest";
import { requestError } from "../api/problem";
import type { Attribute, Template, View } from "../api/queries";
import { draftOf } from "./draft";
import {
  changeOfSettings,
  effectsOf,
  effectsOfDrop,
  effectsOfSettings,
  type Plan,
  settingsOf,
  viewsWith,
  withDryRun,
} from "./effects";

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
  collation: "und",
  label: "X",
  embed: null,
} as Template;
const facts = { records: 1200, filled: 1100, views: [] };
const kinds = (effects: { kind: string }[]) => effects.map(({ kind }) => kind);
const change = (more: Partial<ReturnType<typeof draftOf>>) =>
  effectsOf(template, city, { ...draftOf(city), ...more }, facts);

test("unchanged draft has no effect", () => {
  expect(change({})).toEqual([]);
  expect(effectsOfSettings(template, settingsOf(template), { records: 5 })).toEqual([]);
});

test("required attribute without values is rejected before sending", () => {
  expect(change({ required: true })[0]?.text).toContain("100 records");
  expect(kinds(change({ required: true }))).toEqual(["rejection"]);
});

test("rename warns of external programs", () => {
  expect(kinds(change({ slug: "town" }))).toEqual(["plain", "attention", "plain"]);
});

test("drop shows the value count, and a view that uses the attribute prevents it", () => {
  const view = { slug: "bern", label: null, query: { filters: [{ field: "city" }] } } as unknown as View;
  expect(effectsOfDrop(template, city, facts)[0]?.text).toContain("1,100 values of City");
  expect(kinds(effectsOfDrop(template, city, { ...facts, views: [view] }))[0]).toBe("rejection");
});

test("views use attributes in filters, sorts, fields and references, not in values", () => {
  const view = (query: unknown) => ({ slug: "v", query }) as View;
  const uses = (query: unknown) => viewsWith([view(query)], "city").length > 0;
  expect(uses({ sort: "-city,name" })).toBe(true);
  expect(uses({ filter_groups: [[{ not: { field: "city.country", operator: "empty" } }]] })).toBe(true);
  expect(uses({ filters: [{ field: "name", operator: "eq", value: "city" }] })).toBe(false);
  expect(uses({ sort: "city_code" })).toBe(false);
});

test("new required attribute needs a default if records exist", () => {
  const draft = { ...draftOf(city), slug: "new", required: true };
  expect(kinds(effectsOf(template, null, draft, facts))).toEqual(["rejection"]);
  expect(kinds(effectsOf(template, null, { ...draft, default: "x" }, facts))).toEqual(["plain"]);
  expect(kinds(effectsOf(template, null, draft, { ...facts, records: 0 }))).toEqual(["plain"]);
});

const plan: Plan = {
  dry_run: true,
  changes: {},
  added: [],
  changed: [],
  dropped: [],
  indexes: [],
  jobs: [],
};

const rejected = requestError(409, {
  code: "conflict",
  detail: "/drop: the view is in use",
  errors: [{ pointer: "/drop", code: "conflict", detail: "the view is in use" }],
});

test("rejection is the only effect", () => {
  expect(withDryRun(change({ slug: "town" }), { rejection: rejected })).toEqual([
    { kind: "rejection", text: "The view is in use." },
  ]);
});

test("known rejection has a specific message", () => {
  const ours = change({ required: true });
  expect(withDryRun(ours, { rejection: rejected })).toEqual(ours);
});

test("accepted change does not warn of a rejection", () => {
  expect(withDryRun(change({ required: true }), { plan })).toEqual([]);
});

test("accepted change shows definite effects", () => {
  const sure = (more: Partial<ReturnType<typeof draftOf>>) =>
    effectsOf(template, city, { ...draftOf(city), ...more }, { ...facts, plan });
  expect(kinds(sure({ required: true }))).toEqual(["plain"]);
  expect(sure({ options: [{ value: "Bern", label: "" }] })[0]?.text).toContain("No record has another value");
});

test("background jobs of the change are listed", () => {
  const later: Plan = {
    ...plan,
    indexes: [{ attribute: "city", action: "create", in_background: true }],
    jobs: [{ kind: "index", attribute: "city" }],
  };
  const texts = (of: Plan) =>
    effectsOf(template, city, { ...draftOf(city), indexed: true }, { ...facts, plan: of }).map(
      ({ text }) => text,
    );
  expect(texts(plan).join()).not.toContain("background");
  expect(texts(later).join()).toContain("background");
  const language = { ...settingsOf(template), language: "german" };
  const of = (it: Plan) => kinds(effectsOfSettings(template, language, { records: 9, plan: it }));
  expect(of(plan)).toEqual(["plain"]);
  expect(of({ ...plan, jobs: [{ kind: "documents", attribute: null }] })).toEqual(["attention"]);
  const swedish = { ...settingsOf(template), collation: "sv" };
  const order = (it: Plan) =>
    effectsOfSettings(template, swedish, { records: 9, plan: it }).map(({ text }) => text);
  expect(order(plan).join()).not.toContain("background");
  expect(order(later).join()).toContain("background");
});

test("value count of a drop comes from the service", () => {
  const dropped = { ...plan, dropped: [{ slug: "city", records: 7 }] };
  const [first] = effectsOfDrop(template, city, { ...facts, filled: null, plan: dropped });
  expect(first?.text).toContain("7 values of City");
});

test("settings request has only changed members", () => {
  const before = { ...settingsOf(template), embed: ["a", "b"] };
  expect(changeOfSettings(before, { ...before, embed: ["b", "a"] })).toBeNull();
  expect(changeOfSettings(before, { ...before, label: "", embed: [] })).toEqual({ label: null, embed: null });
  expect(changeOfSettings(before, { ...before, collation: "sv" })).toEqual({ collation: "sv" });
  expect(changeOfSettings(before, { ...before, synonyms: "\n" })).toBeNull();
  const synonyms = [{ synonyms: ["car", "automobile"] }];
  expect(changeOfSettings(before, { ...before, synonyms: "car, automobile\n" })).toEqual({ synonyms });
});
