import { expect, test } from "vitest";
import type { Attribute, Template } from "../api/queries";
import { checkCell, checkKeyCell } from "./cells";
import { fitOf, mappingOf, matchColumns, matchOf, problemsOf } from "./columns";
import type { Reading } from "./reading";

const attribute = (slug: string, type: Attribute["type"], more: Partial<Attribute> = {}): Attribute => ({
  id: slug,
  slug,
  type,
  label: null,
  required: false,
  indexed: false,
  ...more,
});

const template = {
  attributes: [
    attribute("name", "string", { label: "Full name", required: true }),
    attribute("city", "string"),
    attribute("born", "date"),
    attribute("tags", "list", { options: [{ value: "a" }, { value: "b" }] }),
  ],
} as Template;

const reading = (header: string[], ...rows: string[][]) =>
  ({ header, rows: rows.map((cells, at) => ({ line: at + 2, cells })) }) as Reading;

test("columns are matched by slug, then by label, then by similarity", () => {
  expect(matchColumns(template, reading(["external_key", "city", "Full name", "BORN"]))).toEqual([
    "external_key",
    "city",
    "name",
    "born",
  ]);
  expect(matchColumns(template, reading(["City", "city"]))).toEqual([null, "city"]);
});

test("column of unique cells becomes the key", () => {
  expect(matchColumns(template, reading(["No.", "name"], ["1", "a"], ["2", "b"]))).toEqual([
    "external_key",
    "name",
  ]);
  expect(matchColumns(template, reading(["No.", "name"], ["1", "a"], ["1", "b"]))).toEqual([null, "name"]);
});

test("standard columns of an export are not mapped", () => {
  const header = ["id", "external_key", "name", "created_at"];
  const targets = matchColumns(template, reading(header));
  expect(targets).toEqual([null, "external_key", "name", null]);
  expect(mappingOf(header, targets)).toEqual({ external_key: "external_key", name: "name" });
  expect(mappingOf(["name", "Other"], ["name", null])).toEqual({ name: "name", Other: null });
});

test("of two columns with one name, the used one is mapped", () => {
  expect(mappingOf(["name", "name"], ["name", null])).toEqual({ name: "name" });
  expect(mappingOf(["x", "x"], [null, null])).toEqual({ x: null });
});

test("column without a name is not mapped", () => {
  expect(mappingOf(["name", "", ""], ["name", null, null])).toEqual({ name: "name" });
});

test("column counts valid, empty and invalid cells", () => {
  const fit = fitOf(
    template,
    "born",
    reading(["born"], ["2024-02-29"], ["2023-02-29"], [""], ["1.2.2024"]),
    0,
  );
  expect(fit).toEqual({ fits: 1, rejected: 2, empty: 1, unknown: 0, example: "2023-02-29" });
});

test("required attribute without a column and duplicate target are reported", () => {
  expect(problemsOf(template, ["city", "city"]).map(({ kind }) => kind)).toEqual(["twice", "missing"]);
  expect(problemsOf(template, ["name", null])).toEqual([]);
});

test("cells are checked by the type of their attribute", () => {
  const is = (type: Attribute["type"], cell: string) => checkCell(attribute("x", type), cell);
  expect(["-1234.50", "1e3", "0"].map((it) => is("number", it))).toEqual(["fits", "fits", "fits"]);
  expect(["1,5", "01", "+1", "1'000"].map((it) => is("number", it))).toEqual(Array(4).fill("rejected"));
  expect(["true", "TRUE", "ja"].map((it) => is("boolean", it))).toEqual(["fits", "fits", "rejected"]);
  expect(["2024-02-01T10:00:00Z", "2024-02-01T10:00:00"].map((it) => is("datetime", it))).toEqual([
    "fits",
    "rejected",
  ]);
  expect(["2.5", '{"value":2.5}', "{"].map((it) => is("metric", it))).toEqual(["fits", "fits", "rejected"]);
  expect(is("reference", "erp:1")).toBe("unknown");
});

test("list cell may contain only options", () => {
  const tags = template.attributes[3] as Attribute;
  expect(["a;b", '["a"]', "a;c", '["a",1]'].map((it) => checkCell(tags, it))).toEqual([
    "fits",
    "fits",
    "rejected",
    "rejected",
  ]);
});

test("key has 1 to 255 characters and no control characters", () => {
  expect(checkKeyCell(`  ${"k".repeat(255)} `)).toBe("fits");
  expect(checkKeyCell("k".repeat(256))).toBe("rejected");
  expect(checkKeyCell("a\tb")).toBe("rejected");
  expect(checkKeyCell("  ")).toBe("rejected");
});

test("unmapped references have no match parameter", () => {
  expect(matchOf(["name", "company"], { company: "name", city: "name" })).toEqual({ company: "name" });
  expect(matchOf(["name", null], { company: "name" })).toBeNull();
});
