import { expect, test } from "vitest";
import { attributeSlugFault, slugFault, slugOf } from "./slug";

test("a slug is a plain lowercase identifier", () => {
  for (const good of ["a", "customers", "a1_b2", "a".repeat(63), "select"])
    expect(slugFault(good)).toBeUndefined();
  for (const bad of ["", "A", "é", "1a", "_a", "a b", "a-b", "a.b", "a".repeat(64)])
    expect(slugFault(bad), bad).toBeDefined();
});

test("reserved and used slugs are rejected", () => {
  expect(attributeSlugFault("id", [])).toContain("reserved");
  expect(attributeSlugFault("ctid", [])).toContain("reserved");
  expect(attributeSlugFault("city", ["city"])).toContain("city");
  expect(attributeSlugFault("city", ["name"])).toBeUndefined();
});

test("a label gives a slug that can be one, or none", () => {
  for (const [label, slug] of [
    ["Full name", "full_name"],
    ["  2nd Straße (Zürich) ", "nd_strasse_zurich"],
    ["Preis €", "preis"],
    ["東京", ""],
    ["x".repeat(80), "x".repeat(63)],
  ] as const)
    expect(slugOf(label)).toBe(slug);
});
