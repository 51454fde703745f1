import { expect, test } from "vitest";
import { LosslessNumber } from "../api/json";
import type { RecordBody } from "../api/queries";
import { changedFields, fieldOf } from "./merge";

const record = (attributes: Record<string, unknown>, external_key: string | null = "a"): RecordBody => ({
  id: "1",
  external_key,
  attributes: attributes as RecordBody["attributes"],
});

test("a field is changed if its value is another, to the last digit", () => {
  const before = record({ name: "Ada", credit: new LosslessNumber("1.10"), tags: ["a"] });
  const after = record({ name: "Ada", credit: new LosslessNumber("1.1"), tags: ["a", "b"] }, "b");
  expect(changedFields(before, after)).toEqual(["external_key", "credit", "tags"]);
});

test("an attribute that is new and empty is no change", () => {
  expect(changedFields(record({}), record({ city: null }))).toEqual([]);
});

test("an attribute that was dropped changed if it had a value", () => {
  expect(changedFields(record({ city: "Bern" }), record({}))).toEqual(["city"]);
});

test("the key is a field", () => {
  expect(fieldOf(record({}), "external_key")).toBe("a");
});
