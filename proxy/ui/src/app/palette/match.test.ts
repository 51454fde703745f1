import { expect, test } from "vitest";
import { best, matches } from "./match";

test("a name is found without its accents and case", () => {
  expect(matches("zurich", ["Zürich"])).toBe(true);
  expect(matches("ZÜR", ["zurich"])).toBe(true);
});

test("words are found in any order and in any of the names", () => {
  expect(matches("orders new", ["New orders"])).toBe(true);
  expect(matches("kunden shop", ["Customers", "shop kunden"])).toBe(true);
  expect(matches("orders old", ["New orders"])).toBe(false);
});

test("matches rank exact, by prefix, by word, then by substring", () => {
  const names = ["reorders", "my orders", "orders of May", "orders"];
  expect(best("orders", names, (name) => [name])).toEqual([
    "orders",
    "orders of May",
    "my orders",
    "reorders",
  ]);
});

test("an empty query finds all in their order", () => {
  expect(best(" ", ["b", "a"], (name) => [name])).toEqual(["b", "a"]);
});
