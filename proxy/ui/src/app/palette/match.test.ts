import { expect, test } from "vitest";
import { best, matches } from "./match";

test("name matches without accents and case", () => {
  expect(matches("zurich", ["Zürich"])).toBe(true);
  expect(matches("ZÜR", ["zurich"])).toBe(true);
});

test("words match in any order and in any name", () => {
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

test("empty query matches everything in order", () => {
  expect(best(" ", ["b", "a"], (name) => [name])).toEqual(["b", "a"]);
});
