import { expect, test } from "vitest";
import type { Attribute } from "../api/queries";
import { firstItem, itemsOf, matchColumns, pathsOf } from "./sample";

const attribute = (slug: string, label: string) => ({ id: "1", slug, label, type: "string" }) as Attribute;

test("paths of an item lead to scalars and arrays of scalars", () => {
  expect(pathsOf({ id: 7, who: { "first name": "Ada" }, tags: ["a", "b"], lines: [{ sku: "x" }] })).toEqual([
    { path: "$.id", example: "7" },
    { path: '$.who."first name"', example: "Ada" },
    { path: "$.tags[*]", example: "a, b" },
    { path: "$.lines[*].sku", example: "x" },
  ]);
});

test("possible items are arrays of objects, and last the payload itself", () => {
  const paths = (payload: Parameters<typeof itemsOf>[0]) => itemsOf(payload).map(({ path }) => path);
  expect(paths({ data: { orders: [{ id: 1 }] }, names: ["a"] })).toEqual(["$.data.orders[*]", "$"]);
  expect(paths([{ id: 1 }])).toEqual(["$[*]"]);
  expect(paths({ id: 1 })).toEqual(["$"]);
});

test("first item is read at the path of the items", () => {
  const payload = { orders: [{ id: 1 }, { id: 2 }] };
  expect(firstItem(payload, "$.orders[*]")).toEqual({ id: 1 });
  expect(firstItem(payload, "")).toEqual(payload);
  expect(firstItem(payload, "$.nothing[*]")).toBeUndefined();
});

test("mapping matches slugs and labels without case and punctuation", () => {
  const payload = { orders: [{ ID: 1, Title: "A", "order-date": "2026-01-01", other: 1 }] };
  const attributes = [
    attribute("title", "Name"),
    attribute("ordered", "Order date"),
    attribute("total", "Total"),
  ];
  expect(matchColumns(payload, attributes)).toEqual({
    items: "$.orders[*]",
    external_key: "$.ID",
    mapping: { title: "$.Title", ordered: '$."order-date"' },
  });
});
