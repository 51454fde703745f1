import { expect, test } from "vitest";
import { RequestError } from "../api/problem";
import type { Attribute } from "../api/queries";
import { changeOf, draftOf, EMPTY, errorsOf, newAttribute, rejections } from "./draft";

const tags: Attribute = {
  id: "1",
  slug: "tags",
  type: "list",
  label: "Tags",
  required: false,
  indexed: false,
  options: [{ value: "a", label: "A" }, { value: "b" }],
};

test("only differences are sent, and a rename has both slugs", () => {
  const draft = draftOf(tags);
  expect(changeOf(tags, draft)).toBeNull();
  expect(changeOf(tags, { ...draft, slug: "marks" })).toEqual({ rename: { tags: "marks" } });
  expect(changeOf(tags, { ...draft, slug: "marks", label: "", indexed: true })).toEqual({
    rename: { tags: "marks" },
    attributes: [{ slug: "marks", label: null, indexed: true }],
  });
});

test("changed format is sent as a whole, and null removes it", () => {
  const width: Attribute = { ...tags, slug: "width", type: "number", format: { unit: "mm", decimals: 2 } };
  const draft = draftOf(width);
  const change = (format: typeof draft.format) =>
    changeOf(width, { ...draft, format })?.attributes?.[0]?.format;
  expect(changeOf(width, { ...draft, format: { decimals: 2, unit: "mm" } })).toBeNull();
  expect(change({ unit: "cm", decimals: 2 })).toEqual({ decimals: 2, unit: "cm" });
  expect(change({})).toBeNull();
  const fresh = { ...EMPTY, slug: "page", format: { kind: "link" as const } };
  expect(newAttribute(fresh)).toEqual({ slug: "page", type: "string", format: { kind: "link" } });
});

test("options have a label only if it differs; no options are null", () => {
  const draft = draftOf(tags);
  const more = [...(draft.options ?? []), { value: "c", label: "c" }];
  expect(changeOf(tags, { ...draft, options: more })?.attributes?.[0]?.options).toEqual([
    { value: "a", label: "A" },
    "b",
    "c",
  ]);
  expect(changeOf(tags, { ...draft, options: null })?.attributes?.[0]?.options).toBeNull();
});

test("new attribute has only members of its type", () => {
  const draft = { ...EMPTY, slug: "x", target: "companies", options: [], indexed: true };
  expect(newAttribute(draft)).toEqual({ slug: "x", type: "string", indexed: true });
  expect(newAttribute({ ...draft, type: "reference" })).toEqual({
    slug: "x",
    type: "reference",
    template: "companies",
  });
});

test("errors are shown at their fields", () => {
  const errors = [
    { pointer: "/attributes/0/options/1", code: "invalid_value", detail: "twice" },
    { pointer: "/rename/tags", code: "conflict", detail: "taken" },
    {
      pointer: "/attributes",
      code: "invalid_value",
      detail: "a required attribute has no value in some records",
    },
  ];
  const problem = { code: "invalid_value", detail: "x", errors } as never;
  expect(rejections(new RequestError(422, problem, "x"), "/attributes/0", "tags")).toEqual({
    options: "twice",
    slug: "taken",
    required: "a required attribute has no value in some records",
  });
});

test("empty and duplicate options are rejected", () => {
  const errors = (...values: string[]) =>
    errorsOf({ ...draftOf(tags), options: values.map((value) => ({ value, label: "" })) }, []).options;
  expect(errors("a", "b")).toBeUndefined();
  expect(errors("a", "")).toContain("Enter a value");
  expect(errors("a", "a")).toContain("twice");
});
