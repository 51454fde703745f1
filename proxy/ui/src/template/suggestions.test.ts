import { expect, test } from "vitest";
import type { Template, View } from "../api/queries";
import { suggestions } from "./suggestions";

const attribute = (slug: string, indexed = false) => ({
  id: slug,
  slug,
  type: "string" as const,
  label: null,
  required: false,
  indexed,
});
const template = { attributes: [attribute("city"), attribute("name", true), attribute("notes")] } as Template;
const views = [{ slug: "bern", label: "Bern", query: { sort: "city,name" } }] as unknown as View[];
const names = (...given: Parameters<typeof suggestions>) =>
  suggestions(...given).map((it) => it.attribute.slug);

test("saved views of a large template suggest an index", () => {
  expect(names(template, [], views, 60_000)).toEqual(["city"]);
  expect(names(template, [], views, 1_000)).toEqual([]);
});

test("counted attributes of large templates are suggested", () => {
  const counted = ["notes", "name"].map((attribute) => ({ attribute, filters: 12, sorts: 1, since: "" }));
  expect(names(template, counted, [], 6_000)).toEqual(["notes"]);
  expect(names(template, counted, [], 10)).toEqual([]);
  expect(suggestions(template, counted, [], 6_000)[0]?.why).toBe(
    "12 searches filtered by it, 1 sorted by it.",
  );
});
