import { expect, test } from "vitest";
import { attributeSlugError, slugError, slugOf } from "./slug";

test("slug is a lowercase ASCII identifier", () => {
  for (const good of ["a", "customers", "a1_b2", "a".repeat(63), "select"])
    expect(slugError(good)).toBeUndefined();
  for (const bad of ["", "A", "é", "1a", "_a", "a b", "a-b", "a.b", "a".repeat(64)])
    expect(slugError(bad), bad).toBeDefined();
});

test("reserved and used slugs are rejected", () => {
  expect(attributeSlugError("id", [])).toContain("reserved");
  expect(attributeSlugError("ctid", [])).toContain("reserved");
  expect(attributeSlugError("city", ["city"])).toContain("city");
  expect(attributeSlugError("city", ["name"])).toBeUndefined();
});

test("slug from a label is valid or empty", () => {
  for (const [label, slug] of [
    ["Full name", "full_name"],
    ["  2nd Straße (Zürich) ", "nd_strasse_zurich"],
    ["Preis €", "preis"],
    ["東京", ""],
    ["x".repeat(80), "x".repeat(63)],
  ] as const)
    expect(slugOf(label)).toBe(slug);
});
