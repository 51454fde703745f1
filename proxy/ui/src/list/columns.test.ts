import { expect, test } from "vitest";
import type { Attribute, Template } from "../api/queries";
import { deletedColumns, initialColumns, neededFields, savedColumns, shownColumns } from "./columns";

const attribute = (slug: string, type: Attribute["type"] = "string"): Attribute => ({
  id: slug,
  slug,
  type,
  label: null,
  required: false,
  indexed: false,
});

const template: Template = {
  id: "1",
  slug: "people",
  label: null,
  project: "shop",
  display: "name",
  language: "english",
  attributes: [attribute("city"), attribute("name"), attribute("born", "date")],
  created_at: "",
  updated_at: "",
};

const ids = (columns: { id: string }[]) => columns.map(({ id }) => id);

test("display attribute is the first column", () => {
  expect(ids(initialColumns(template))).toEqual(["name", "city", "born"]);
});

test("columns of dropped attributes are left out", () => {
  expect(ids(shownColumns(template, [{ id: "born" }, { id: "gone" }, { id: "created_at" }]))).toEqual([
    "born",
    "created_at",
  ]);
});

test("hidden display attribute is also requested", () => {
  expect(neededFields(template, shownColumns(template, [{ id: "city" }]))).toEqual(["city", "name"]);
});

test("request for all fields does not name them", () => {
  expect(neededFields(template, initialColumns(template))).toBeNull();
});

test("initial columns are stored as null, others with changed widths", () => {
  const columns = initialColumns(template);
  expect(savedColumns(template, columns)).toBeNull();
  const [name, city] = columns;
  if (!name || !city) throw new Error("columns are missing");
  expect(savedColumns(template, [city, { ...name, width: 300 }])).toEqual([
    { id: "city" },
    { id: "name", width: 300 },
  ]);
});

test("list of deleted records begins with the deletion time, unless that column was moved", () => {
  const columns = deletedColumns(template, null);
  expect(ids(columns)).toEqual(["deleted_at", "name", "city", "born"]);
  expect(savedColumns(template, columns)).toBeNull();
  const [deleted, name] = columns;
  if (!deleted || !name) throw new Error("columns are missing");
  const kept = savedColumns(template, [name, { ...deleted, width: 300 }]);
  expect(kept).toEqual([{ id: "name" }, { id: "deleted_at", width: 300 }]);
  expect(deletedColumns(template, kept).map(({ id, width }) => [id, width])).toEqual([
    ["name", 240],
    ["deleted_at", 300],
  ]);
  expect(ids(shownColumns(template, kept))).toEqual(["name"]);
});
