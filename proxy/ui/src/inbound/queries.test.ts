import { expect, test } from "vitest";
import type { Attribute } from "../api/queries";
import { placeInWords, reasonInWords } from "./queries";

const attributes = [{ slug: "total", label: "Order total" } as Attribute];

test("places of a delivery are counted from one and named by labels", () => {
  const said = (pointer: string) => placeInWords(pointer, attributes);
  expect(said("/items/0/attributes/total")).toBe("Item 1, Order total");
  expect(said("/items/2/attributes/gone/0")).toBe("Item 3, gone");
  expect(said("/items/2/external_key")).toBe("Item 3, External key");
  expect(said("/items")).toBe("Path to the items");
});

test("summary has the first reason and the number of reasons", () => {
  const fault = { pointer: "/items/0/attributes/total", detail: "must be a number" };
  expect(reasonInWords({ errors: [fault] }, attributes)).toBe("Item 1, Order total: must be a number");
  expect(reasonInWords({ errors: [fault, fault] }, attributes)).toMatch(/\(and 1 more\)$/);
  expect(reasonInWords({ detail: "no items" }, attributes)).toBe("No items.");
});
