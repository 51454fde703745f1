import { expect, test } from "vitest";
import { isEmptyValue, valueText } from "./text";

const segments = {
  type: "list" as const,
  options: [{ value: "vip", label: "Very important" }, { value: "new" }],
};

test("an empty text and an empty list count as no value, false and zero do not", () => {
  expect([null, undefined, "", []].every(isEmptyValue)).toBe(true);
  expect([false, 0, "0", [""]].some(isEmptyValue)).toBe(false);
});

test("elements of a list are named by their labels", () => {
  expect(valueText(segments, ["vip", "new", "other"])).toBe("Very important, new, other");
});

test("a reference is named by the display of its target, else by its key, else by its id", () => {
  const type = { type: "reference" as const };
  expect(valueText(type, "01a2", { value: "01a2", display: "Ada", external_key: "erp:1" })).toBe("Ada");
  expect(valueText(type, "01a2", { value: "01a2", display: null, external_key: "erp:1" })).toBe("erp:1");
  expect(valueText(type, "01a2")).toBe("01a2");
});
