import { expect, test } from "vitest";
import { LosslessNumber } from "../api/json";
import type { RecordBody } from "../api/queries";
import { changedFields, fieldOf } from "./merge";

const record = (attributes: Record<string, unknown>, external_key: string | null = "a"): RecordBody => ({
  id: "1",
  external_key,
  attributes: attributes as RecordBody["attributes"],
});

test("field is changed if any digit of its value differs", () => {
  const before = record({ name: "Ada", credit: new LosslessNumber("1.10"), tags: ["a"] });
  const after = record({ name: "Ada", credit: new LosslessNumber("1.1"), tags: ["a", "b"] }, "b");
  expect(changedFields(before, after)).toEqual(["external_key", "credit", "tags"]);
});

test("new empty attribute is not a change", () => {
  expect(changedFields(record({}), record({ city: null }))).toEqual([]);
});

test("dropped attribute is a change if it had a value", () => {
  expect(changedFields(record({ city: "Bern" }), record({}))).toEqual(["city"]);
});

test("external key counts as a field", () => {
  expect(fieldOf(record({}), "external_key")).toBe("a");
});
