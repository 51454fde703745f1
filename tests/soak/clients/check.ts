// Checks the types that openapi-typescript generates. Compiled, but never run.
import type { components, operations } from "./openapi";

type Schemas = components["schemas"];

export const upsert: Schemas["Upsert"] = {
  external_key: "erp:4711",
  attributes: {
    name: "Ada",
    credit: { $inc: 5 },
    company: { external_key: "C-1" },
    temperature: [{ value: 21.5, at: "2026-01-31T12:00:00Z" }],
    tags: ["a", "b"],
    born: null,
  },
};

export const search: Schemas["Search"] = {
  filters: [{ field: "city", operator: "eq", value: "Bern" }, { not: { or: [{ field: "credit", operator: "gt", value: 5 }] } }],
  filter_groups: [[{ field: "name", operator: "empty" }]],
  sort: [{ field: "name", direction: "desc", nulls: "last" }, "-updated_at"],
  mode: "hybrid",
};

// @ts-expect-error: An export has no semantic search.
export const exported: Schemas["ExportedSearch"] = { query_vector: [1] };

// @ts-expect-error: A condition has an operator.
export const condition: Schemas["Condition"] = { field: "city" };

export function keys(result: Schemas["SearchResult"]): (string | null)[] {
  return result.records.map((record) => record.external_key);
}

export function grants(me: Schemas["Me"]): string[] {
  return me.templates.filter((it) => it.privileges.includes("read")).map((it) => it.template);
}

type Read = operations["getRecordByKey"];
export const query: Read["parameters"]["query"] = { key: "erp:4711", verbose: true };
export const body: Read["responses"][200]["content"]["application/json"]["id"] = "01931f3e-5b2a-8c00-8000-000710f2a9c4";
