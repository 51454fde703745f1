import { expect, test } from "vitest";
import type { Attribute } from "../api/queries";
import { pointerInWords, reasonText } from "./queries";

const attributes = [{ slug: "total", label: "Order total" } as Attribute];

test("pointer text counts items from one and uses labels", () => {
  const text = (pointer: string) => pointerInWords(pointer, attributes);
  expect(text("/items/0/attributes/total")).toBe("Item 1, Order total");
  expect(text("/items/2/attributes/gone/0")).toBe("Item 3, gone");
  expect(text("/items/2/external_key")).toBe("Item 3, External key");
  expect(text("/items")).toBe("Path to the items");
});

test("summary has the first error and the number of others", () => {
  const error = { pointer: "/items/0/attributes/total", detail: "must be a number" };
  expect(reasonText({ errors: [error] }, attributes)).toBe("Item 1, Order total: must be a number");
  expect(reasonText({ errors: [error, error] }, attributes)).toMatch(/\(and 1 more\)$/);
  expect(reasonText({ detail: "no items" }, attributes)).toBe("No items.");
});
