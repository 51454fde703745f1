import { expect, test } from "vitest";
import type { Template } from "../api/queries";
import { startFields, startOf } from "./start";
import { INITIAL } from "./state";

const attribute = (slug: string, type: Template["attributes"][number]["type"]) => ({
  id: slug,
  slug,
  type,
  required: false,
  indexed: false,
});
const template = {
  slug: "customers",
  display: "name",
  attributes: [
    attribute("name", "string"),
    attribute("year", "number"),
    attribute("born", "date"),
    attribute("active", "boolean"),
  ],
} as unknown as Template;

const at = (field: string, start: string) =>
  startOf({ ...INITIAL, sort: [{ field, isDescending: false }], start }, template);

test("list can start at a number, date or time of its sort field", () => {
  expect(at("year", "1900")).toMatchObject({ value: "1900", isDescending: false, field: { kind: "number" } });
  expect(at("born", "1990-05-01")?.field.path).toBe("born");
  expect(at("created_at", "2024-01-01T10:00:00Z")?.field.kind).toBe("datetime");
});

test("start value of another type is ignored", () => {
  expect(at("year", "May")).toBeNull();
  expect(at("born", "1900")).toBeNull();
  expect(at("born", "1990-55-01")).toBeNull();
  expect(at("name", "M")).toBeNull();
  expect(at("external_key", "erp:1")).toBeNull();
  expect(at("unknown", "1")).toBeNull();
  expect(startOf({ ...INITIAL, start: "1900" }, template)).toBeNull();
});

test("numbers, dates, times and text can be start values", () => {
  const paths = (isDeleted: boolean) => startFields(template, isDeleted).map(({ path }) => path);
  expect(paths(false)).toEqual(["name", "year", "born", "created_at", "updated_at"]);
  expect(paths(true)).toContain("deleted_at");
});
