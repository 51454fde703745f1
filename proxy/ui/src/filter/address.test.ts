import fc from "fast-check";
import { expect, test } from "vitest";
import { exact, type Json, renderJson } from "../api/json";
import { decodeCondition, decodeConditions, encodeCondition, PARAMETER, readableParameter } from "./address";
import { API_OPERATORS, type Condition } from "./condition";

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    "~",
    "a,b",
    "(x)",
    "a;b",
    "@k",
    "true",
    "8001",
    "1e5",
    "-0.50",
    "{}",
    "[1]",
    "Bern",
    "x y",
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((it) => !Object.is(it, -0)),
  fc.constantFrom("12345678901234567890.10", "0.00000001", "1.50").map(exact),
  fc.boolean(),
  fc.constant(null),
  fc.record({ external_key: fc.string() }),
);

const value: fc.Arbitrary<Json | undefined> = fc.oneof(
  { weight: 4, arbitrary: scalar as fc.Arbitrary<Json> },
  { weight: 3, arbitrary: fc.array(scalar as fc.Arbitrary<Json>, { maxLength: 4 }) },
  fc.constant(undefined),
);

const comparison = fc
  .record({
    field: fc.constantFrom("city", "artist.name", "external_key", "or", "not", "json"),
    operator: fc.constantFrom(...API_OPERATORS),
    value,
  })
  .map(({ value, ...rest }) => (value === undefined ? rest : { ...rest, value })) as fc.Arbitrary<Condition>;

const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    comparison,
    fc.array(tie("condition"), { maxLength: 3 }).map((or) => ({ or })),
    fc.array(tie("condition"), { maxLength: 3 }).map((and) => ({ and })),
    tie("condition").map((not) => ({ not })),
  ),
}));

test("condition round-trips through the address", () => {
  fc.assert(
    fc.property(condition, (it) => {
      expect(renderJson(decodeCondition(encodeCondition(it)))).toBe(renderJson(it));
    }),
    { numRuns: 2000 },
  );
});

test("address round-trips through URLSearchParams", () => {
  fc.assert(
    fc.property(fc.array(condition, { maxLength: 4 }), (conditions) => {
      const query = conditions
        .map((it) => `${PARAMETER}=${readableParameter(encodeCondition(it))}`)
        .join("&");
      const texts = new URLSearchParams(query).getAll(PARAMETER);
      const whole = renderJson(conditions).replace(/\p{Surrogate}/gu, "\uFFFD");
      expect(renderJson(decodeConditions(texts).conditions)).toBe(whole);
    }),
    { numRuns: 500 },
  );
});

test("arbitrary text is parsed or ignored without an exception", () => {
  const part = fc.constantFrom(
    "or(",
    "and(",
    "not(",
    ")",
    ";",
    ",",
    "~",
    "@",
    "city:",
    "eq:",
    "in:",
    "1",
    "{",
    "x",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part, { maxLength: 30 }).map((it) => it.join("")),
      ),
      (text) => {
        const { conditions, ignored } = decodeConditions([text]);
        expect(conditions.length + ignored.length).toBe(1);
      },
    ),
    { numRuns: 2000 },
  );
});

test.each<[string, Condition]>([
  ["city:in:Bern,Basel", { field: "city", operator: "in", value: ["Bern", "Basel"] }],
  ["born:lt:1980-01-01", { field: "born", operator: "lt", value: "1980-01-01" }],
  ["credit:between:1,100.50", { field: "credit", operator: "between", value: [1, exact("100.50")] }],
  ["zip:eq:~8001", { field: "zip", operator: "eq", value: "8001" }],
  ["newsletter:eq:true", { field: "newsletter", operator: "eq", value: true }],
  ["company:eq:@erp:4711", { field: "company", operator: "eq", value: { external_key: "erp:4711" } }],
  ["company:empty", { field: "company", operator: "empty" }],
  ["seen:gt:2024-05-01T12:30:00Z", { field: "seen", operator: "gt", value: "2024-05-01T12:30:00Z" }],
  ["name:ilike:a~,b", { field: "name", operator: "ilike", value: "a,b" }],
  [
    "or(city:eq:Bern;not(and(artist.name:eq:Vermeer;year:gt:1600)))",
    {
      or: [
        { field: "city", operator: "eq", value: "Bern" },
        {
          not: {
            and: [
              { field: "artist.name", operator: "eq", value: "Vermeer" },
              { field: "year", operator: "gt", value: 1600 },
            ],
          },
        },
      ],
    },
  ],
])("%s is how people write it", (text, condition) => {
  expect(renderJson(decodeCondition(text))).toBe(renderJson(condition));
  expect(encodeCondition(condition)).toBe(text);
  expect(readableParameter(text)).toBe(text);
});

test.each([
  "",
  "city",
  "city:",
  "city:nope:1",
  "or(city:eq:Bern",
  "city:eq:a)b",
  "{",
  "[]",
  '{"field":1}',
  "not()",
])("%j cannot be read and is ignored", (text) =>
  expect(decodeConditions([text, "city:empty"])).toEqual({
    conditions: [{ field: "city", operator: "empty" }],
    ignored: [text],
  }),
);

test("conditions nested deeper than the service accepts are ignored", () => {
  const nested = (levels: number) => `${"not(".repeat(levels)}city:empty${")".repeat(levels)}`;
  expect(decodeCondition(nested(10))).not.toBeNull();
  expect(decodeCondition(nested(11))).toBeNull();
  expect(decodeCondition(nested(100_000))).toBeNull();
});
