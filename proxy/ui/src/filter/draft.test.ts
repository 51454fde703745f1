import { expect, test } from "vitest";
import { renderJson } from "../api/json";
import { check, type Draft, draftOf, newDraft, withOperator } from "./draft";
import type { Field } from "./fields";
import { arity, type Kind, offered } from "./operators";

const field = (kind: Kind): Field => ({ path: "f", label: "F", kind, owner: "t", slug: "f" });
const draft = (kind: Kind, operator: Draft["operator"], values: Draft["values"]): Draft => ({
  field: field(kind),
  operator,
  values,
});
const written = (it: Draft) => {
  const checked = check(it);
  return "condition" in checked ? renderJson(checked.condition) : checked.message;
};

const KINDS: Kind[] = [
  "string",
  "number",
  "list",
  "date",
  "datetime",
  "reference",
  "boolean",
  "external_key",
  "id",
];
const SAMPLE: Partial<Record<Kind, (string | boolean)[]>> = {
  number: ["1", "2.50"],
  date: ["2024-05-01", "2024-06-01"],
  datetime: ["2024-05-01", "2024-06-01T12:00:00Z"],
  boolean: [true, false],
};

test("condition from the form round-trips through it", () => {
  for (const kind of KINDS) {
    const { first, more } = offered({ kind });
    for (const operator of [...first, ...more]) {
      const count = { none: 0, one: 1, two: 2, many: 2 }[arity(operator)];
      const values = (SAMPLE[kind] ?? ["a", "b,c"]).slice(0, count);
      const checked = check(draft(kind, operator, values));
      if (!("condition" in checked)) throw new Error(`${kind} ${operator}: ${checked.message}`);
      expect(draftOf(checked.condition, field(kind))).toEqual(draft(kind, operator, values));
    }
  }
});

test("number keeps its digits", () => {
  expect(written(draft("number", "gt", ["12345678901234567890.10"]))).toBe(
    '{"field":"f","operator":"gt","value":12345678901234567890.10}',
  );
  expect(written(draft("number", "in", ["1 000", "2"]))).toBe(
    '{"field":"f","operator":"in","value":[1000,2]}',
  );
});

test("missing and invalid values are reported", () => {
  expect(written(draft("number", "gt", []))).toBe("Enter a number, such as 1234.5.");
  expect(written(draft("number", "between", ["1", "x"]))).toBe("Enter a number, such as 1234.5.");
  expect(written(draft("number", "between", ["2", "1"]))).toBe(
    "The second value must not be less than the first.",
  );
  expect(written(draft("date", "between", ["2024-05-02", "2024-05-01"]))).toBe(
    "The second value must not be less than the first.",
  );
  expect(written(draft("datetime", "between", ["2024-05-01T12:00:00Z", "2024-05-01"]))).toContain("between");
  expect(written(draft("date", "lt", [null]))).toBe("Enter a complete date.");
  expect(written(draft("string", "in", []))).toBe("Choose at least one value.");
  expect(written(draft("string", "ilike", [""]))).toBe("Enter a value.");
});

test("changing the operator keeps the values that it accepts", () => {
  expect(withOperator(draft("string", "in", ["a", "b"]), "eq").values).toEqual(["a"]);
  expect(withOperator(draft("string", "eq", ["a"]), "in").values).toEqual(["a"]);
  expect(withOperator(draft("string", "eq", ["a"]), "empty").values).toEqual([]);
  expect(withOperator(draft("number", "between", ["", "2"]), "gt").values).toEqual(["2"]);
});

test("new condition starts with an operator of its field", () => {
  for (const kind of KINDS) {
    const { first, more } = offered({ kind });
    expect([...first, ...more]).toContain(newDraft(field(kind)).operator);
  }
});
