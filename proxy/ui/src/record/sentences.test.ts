import { expect, test } from "vitest";
import type { Template } from "../api/queries";
import { actorName, changesOf, type Entry, entriesOf, entrySentence, sourceOf } from "./sentences";

const template = {
  attributes: [
    { slug: "city", type: "string", label: "City" },
    { slug: "tags", type: "list", label: null, options: [{ value: "vip", label: "Very important" }] },
    { slug: "company", type: "reference", label: "Company" },
    { slug: "name", type: "string", label: "Name" },
  ],
} as unknown as Template;

const entry = (changes: Entry["changes"], rest: Partial<Entry> = {}): Entry => ({
  version: 2,
  at: "2026-01-31T12:00:00Z",
  actor: "Anna (key 3)",
  source: "api",
  operation: "update",
  external_key: null,
  changes,
  ...rest,
});
const say = (it: Entry, only?: string[]) => entrySentence(template, it, only);

test("actor name omits the key id", () => {
  expect(["erp sync (key 3)", "postgres", "endpoint museum"].map(actorName)).toEqual([
    "erp sync",
    "postgres",
    "endpoint museum",
  ]);
});

test("one changed field is named with its value", () => {
  expect(say(entry({ city: { old: "Basel", new: "Bern" } }))).toBe("Anna set City to Bern");
  expect(say(entry({ tags: { old: null, new: ["vip"] } }))).toBe("Anna set tags to Very important");
  expect(say(entry({ external_key: { old: "a", new: "b" } }))).toBe("Anna set External key to b");
});

test("cleared field is described as cleared", () => {
  expect(say(entry({ city: { old: "Bern", new: null } }))).toBe("Anna cleared City");
});

test("sentence omits the id of a reference", () => {
  expect(say(entry({ company: { old: null, new: "01a2" } }))).toBe("Anna changed Company");
});

test("several changed fields are listed, further ones are counted", () => {
  const changed = { old: null, new: "x" };
  expect(say(entry({ city: changed, name: changed }))).toBe("Anna changed City, Name");
  expect(say(entry({ city: changed, name: changed, tags: changed, company: changed, gone: changed }))).toBe(
    "Anna changed City, tags, Company and 2 more changes",
  );
  expect(say(entry({ city: changed, name: changed }), ["city"])).toBe("Anna set City to x");
});

test("other operations have their own sentence", () => {
  expect(say(entry({}, { operation: "delete" }))).toBe("Anna deleted the record");
  expect(say(entry({ city: { old: null, new: "Bern" } }, { operation: "create" }))).toBe(
    "Anna created the record",
  );
});

test("newest entry of a field describes its change", () => {
  const newest = entry({ city: { old: "a", new: "b" } }, { version: 3 });
  const older = entry({ city: { old: "0", new: "a" }, name: { old: "x", new: "y" } });
  expect(entriesOf([newest, older], ["city", "name"])).toEqual([
    { entry: newest, fields: ["city"] },
    { entry: older, fields: ["name"] },
  ]);
});

test("unknown source is shown by name", () => {
  expect([sourceOf("api"), sourceOf("batch")]).toEqual(["through the API", "by batch"]);
});

test("changes follow the order of the record's fields", () => {
  const changed = { old: null, new: "x" };
  const { changes } = entry({ gone: changed, name: changed, city: changed, external_key: changed });
  expect(changesOf(template, entry(changes)).map(([field]) => field)).toEqual([
    "external_key",
    "city",
    "name",
    "gone",
  ]);
});
