import { expect, test } from "vitest";
import { exact } from "../api/json";
import type { Template } from "../api/queries";
import { messages } from "../language";
import type { Condition } from "./condition";
import { API_OPERATORS } from "./condition";
import { type Field, Fields } from "./fields";
import { isOffered, offered } from "./operators";
import { hasForm, sentence } from "./sentence";

const attribute = (slug: string, type: string, label: string, more = {}) => ({
  id: "1",
  slug,
  type,
  label,
  required: false,
  indexed: false,
  ...more,
});

const templates = [
  {
    slug: "customers",
    attributes: [
      attribute("name", "string", "Name"),
      attribute("city", "string", "City"),
      attribute("notes", "string", "Notes"),
      attribute("status", "string", "Status"),
      attribute("credit", "number", "Credit"),
      attribute("visits", "metric", "Visits"),
      attribute("segments", "list", "Segments", {
        options: [{ value: "vip", label: "Very important" }, { value: "new" }],
      }),
      attribute("bought", "date", "Bought"),
      attribute("seen", "datetime", "Last seen"),
      attribute("newsletter", "boolean", "Newsletter"),
      attribute("company", "reference", "Company", { template: "companies" }),
    ],
  },
  {
    slug: "companies",
    attributes: [
      attribute("name", "string", "Name"),
      attribute("parent", "reference", "Parent", { template: "companies" }),
    ],
  },
] as unknown as Template[];

const fields = new Fields(templates, "customers");
const names = new Map([
  ["id-1", "Ada & Co"],
  ["id-2", "Euler Ltd"],
]);
const read = (condition: Condition) => sentence(condition, { fields, names, locale: "en-GB" });

test.each<[string, Condition]>([
  ["City is Bern", { field: "city", operator: "eq", value: "Bern" }],
  ["City is not Bern", { field: "city", operator: "neq", value: "Bern" }],
  ["City is Bern or Basel", { field: "city", operator: "in", value: ["Bern", "Basel"] }],
  ["City is Bern or Basel", { field: "city", operator: "in", value: "Bern, Basel" }],
  ["City is Bern, Basel or “a, b”", { field: "city", operator: "in", value: 'Bern,Basel,"a, b"' }],
  ["City is A, B, C or D", { field: "city", operator: "in", value: ["A", "B", "C", "D"] }],
  ["City is A, B, C or 2 other values", { field: "city", operator: "in", value: ["A", "B", "C", "D", "E"] }],
  ["City is not Bern", { field: "city", operator: "not-in", value: ["Bern"] }],
  ["City is neither Bern nor Basel", { field: "city", operator: "not-in", value: ["Bern", "Basel"] }],
  ["City is none of A, B and C", { field: "city", operator: "not-in", value: ["A", "B", "C"] }],
  ["Name contains “ann”", { field: "name", operator: "ilike", value: "ann" }],
  ["Name does not contain “ann”", { not: { field: "name", operator: "ilike", value: "ann" } }],
  ["Name contains “Ann” (case-sensitive)", { field: "name", operator: "like", value: "Ann" }],
  ["Notes start with “A”", { field: "notes", operator: "starts-with", value: "A" }],
  ["Status ends with “ed”", { field: "status", operator: "ends-with", value: "ed" }],
  ["City is empty", { field: "city", operator: "empty" }],
  ["Notes are not empty", { field: "notes", operator: "not-empty" }],
  [
    "Credit is 1,234,567,890,123,456,789.05",
    { field: "credit", operator: "eq", value: exact("1234567890123456789.05") },
  ],
  ["Credit is 5,028", { field: "credit", operator: "eq", value: exact("5028.0000000000000000") }],
  ["Credit is more than 1900", { field: "credit", operator: "gt", value: 1900 }],
  ["Credit is between 1819 and 1976", { field: "credit", operator: "between", value: [1819, "1976"] }],
  ["Credit is between 1,819 and 12,000", { field: "credit", operator: "between", value: [1819, 12000] }],
  ["Visits are more than 5", { field: "visits", operator: "gt", value: 5 }],
  ["Credit is at least 5", { field: "credit", operator: "gte", value: "5" }],
  ["Credit is less than −5", { field: "credit", operator: "lt", value: -5 }],
  ["Credit is at most 5", { field: "credit", operator: "lte", value: 5 }],
  ["Credit is between 1 and 100", { field: "credit", operator: "between", value: [1, 100] }],
  ["Segments include Very important or new", { field: "segments", operator: "in", value: ["vip", "new"] }],
  [
    "Segments include neither Very important nor new",
    { field: "segments", operator: "not-in", value: ["vip", "new"] },
  ],
  ["Bought after 1 May 2024", { field: "bought", operator: "gt", value: "2024-05-01" }],
  ["Bought on 1 May 2024", { field: "bought", operator: "eq", value: "2024-05-01" }],
  [
    "Bought between 1 May 2024 and 2 Jun 2024",
    { field: "bought", operator: "between", value: "2024-05-01,2024-06-02" },
  ],
  ["Last seen today", { field: "seen", operator: "today" }],
  ["Created on or before 1 May 2024", { field: "created_at", operator: "lte", value: "2024-05-01" }],
  ["Newsletter is yes", { field: "newsletter", operator: "eq", value: true }],
  ["Newsletter is no", { field: "newsletter", operator: "eq", value: "false" }],
  ["Company is Ada & Co or Euler Ltd", { field: "company", operator: "in", value: ["id-1", "id-2"] }],
  ["Company is erp:1", { field: "company", operator: "eq", value: { external_key: "erp:1" } }],
  ["Company is unknown record", { field: "company", operator: "eq", value: "id-9" }],
  ["Company is unlinked", { field: "company", operator: "empty" }],
  ["Company is linked", { field: "company", operator: "not-empty" }],
  ["External key contains “erp:”", { field: "external_key", operator: "like", value: "erp:" }],
  ["Company › Name is Ada", { field: "company.name", operator: "eq", value: "Ada" }],
  ["Company › Parent › External key is empty", { field: "company.parent.external_key", operator: "empty" }],
  ["nope is 1", { field: "nope", operator: "eq", value: 1 }],
  [
    "City is Bern or Company is unlinked",
    {
      or: [
        { field: "city", operator: "eq", value: "Bern" },
        { field: "company", operator: "empty" },
      ],
    },
  ],
  [
    "City is Bern or (Credit is 1 and City is empty)",
    {
      or: [
        { field: "city", operator: "eq", value: "Bern" },
        {
          and: [
            { field: "credit", operator: "eq", value: 1 },
            { field: "city", operator: "empty" },
          ],
        },
      ],
    },
  ],
  ["not (City is Bern)", { not: { field: "city", operator: "eq", value: "Bern" } }],
])("%s", (text, condition) => {
  expect(read(condition)).toBe(text);
});

test("unsupported condition is shown as JSON", () => {
  expect(read({ field: "city", operator: "in", value: "[1" })).toBe("City is [1");
  expect(read({ field: "city", operator: "eq" })).toContain("City is");
  expect(read({ field: "credit", operator: "between", value: { a: 1 } })).toContain("Credit is between");
});

test("form supports only the conditions that it can create", () => {
  for (const field of [
    "city",
    "credit",
    "segments",
    "bought",
    "seen",
    "newsletter",
    "company",
    "external_key",
    "company.name",
  ])
    for (const operator of API_OPERATORS) {
      const value = operator === "between" ? ["1", "2"] : "1";
      const found = fields.find(field) ?? { kind: "id" as const };
      expect(hasForm({ field, operator, value }, fields)).toBe(isOffered(found, operator));
    }
  const bern: Condition = { field: "city", operator: "eq", value: "Bern" };
  expect(hasForm({ or: [bern, { and: [bern, bern] }] }, fields)).toBe(true);
  expect(hasForm({ or: [bern, { not: bern }] }, fields)).toBe(false);
  expect(hasForm({ not: bern }, fields)).toBe(false);
  expect(hasForm({ field: "nope", operator: "eq", value: 1 }, fields)).toBe(false);
  expect(hasForm({ field: "credit", operator: "between", value: [1] }, fields)).toBe(false);
  expect(hasForm({ field: "city", operator: "in", value: "[1" }, fields)).toBe(false);
});

test("inherited object members are not fields", () => {
  for (const name of ["__proto__", "constructor", "company.__proto__"]) {
    expect(fields.find(name)).toBeNull();
    expect(sentence({ field: name, operator: "eq", value: "x" }, { fields })).toContain(name);
  }
});

test("path follows at most three references", () => {
  expect(fields.find("company.parent.parent.name")?.label).toBe("Company › Parent › Parent › Name");
  expect(fields.find("company.parent.parent.parent.name")).toBeNull();
  expect(fields.find("name.city")).toBeNull();
});

test("whole project has only standard fields", () => {
  const whole = new Fields(templates, null);
  expect(whole.find("external_key")?.label).toBe("External key");
  expect(whole.find("city")).toBeNull();
  expect(whole.list().own.map(({ slug }) => slug)).toEqual(["external_key"]);
});

test("external key is the first field, even of a referenced record", () => {
  const { own, behind } = fields.list();
  expect(own[0]?.path).toBe("external_key");
  expect(behind[0]?.path).toBe("company.external_key");
});

test("required fields have no emptiness operators", () => {
  for (const name of ["created_at", "updated_at"]) {
    const { first, more } = offered(fields.find(name) as Field);
    expect([...first, ...more]).toContain("today");
    expect([...first, ...more].filter((operator) => operator.endsWith("empty"))).toEqual([]);
  }
  expect(isOffered(fields.find("seen") as Field, "empty")).toBe(true);
});

test.each([
  ["is more than", "must be more than"],
  ["are not", "must not be"],
  ["contains", "must contain"],
  ["does not contain", "must not contain"],
  ["starts with", "must start with"],
  ["include", "must include"],
  ["before", "must be before"],
])("what a scope needs: %s", (verb, needed) => {
  expect(messages.filter.sentence.must(verb)).toBe(needed);
});
