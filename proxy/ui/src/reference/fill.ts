/** Fills examples and requests with the user's current project and template. */
import type { Json } from "../api/json";
import type { Attribute, Template } from "../api/queries";
import type { ApiRequest } from "../code/request";
import type { Operation } from "./document";

const isObject = (value: Json | undefined): value is { [member: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !("isLosslessNumber" in value);

const SAMPLES: Record<string, Json> = {
  string: "text",
  dimension: "text",
  number: 80.5,
  metric: 80.5,
  boolean: true,
  date: "2026-01-31",
  datetime: "2026-01-31T12:00:00Z",
  reference: { external_key: "erp:4711" },
};

function sampleOf(attribute: Attribute): Json {
  const option = attribute.options?.[0]?.value;
  if (attribute.type === "list") return [option ?? "text"];
  return option ?? SAMPLES[attribute.type] ?? null;
}

/** The example with its attributes replaced by those of the template. */
export function fillExample(example: Json | undefined, template: Template | undefined): Json | undefined {
  if (!template || !isObject(example)) return example;
  const attributes = template.attributes.filter(({ required }, at) => required || at < 2);
  const [first] = template.attributes;
  return Object.fromEntries(
    Object.entries(example).map(([name, value]): [string, Json] => {
      if (name === "attributes" && isObject(value)) {
        return [name, Object.fromEntries(attributes.map((it) => [it.slug, sampleOf(it)]))];
      }
      if (name === "filters" && Array.isArray(value) && first) {
        return [name, [{ field: first.slug, operator: "not-empty" }]];
      }
      return [name, name === "query" ? (fillExample(value, template) ?? value) : value];
    }),
  );
}

export type Values = Readonly<Record<string, string>>;
/** A path and a query parameter may have the same name. */
export const valueId = (parameter: { in: string; name: string }) => `${parameter.in} ${parameter.name}`;
export const PROJECT_HEADER = "X-Service-Project-Id";

/** The initial values of the form. */
export function initialValues(
  operation: Operation,
  project: string | null,
  template: string | undefined,
): Values {
  const known: Record<string, string | null | undefined> = {
    [`header ${PROJECT_HEADER}`]: project,
    "path template": template,
  };
  return Object.fromEntries(
    operation.parameters.flatMap((it) => {
      const value = known[valueId(it)];
      return value ? [[valueId(it), value] as [string, string]] : [];
    }),
  );
}

type Body = { type: string; json?: Json; text?: string } | null;

/** The request for an operation with these values. Missing path parameters keep their name. */
export function requestOf(operation: Operation, values: Values, body: Body): ApiRequest {
  const given = (location: string) =>
    operation.parameters.flatMap((it) => {
      const value = values[valueId(it)];
      return it.in === location && value ? [[it.name, value] as [string, string]] : [];
    });
  const path = operation.path.replace(/\{([^}]+)\}/g, (whole, name) => {
    const value = values[`path ${name}`];
    return value ? encodeURIComponent(value) : whole;
  });
  const headers = given("header");
  const project = headers.find(([name]) => name === PROJECT_HEADER)?.[1] ?? null;
  return {
    method: operation.method,
    path,
    query: Object.fromEntries(given("query")),
    project,
    headers: Object.fromEntries(headers.filter(([name]) => name !== PROJECT_HEADER)),
    isOpen: operation.isOpen,
    ...(body?.json !== undefined ? { body: body.json } : {}),
    ...(body?.text !== undefined ? { text: { type: body.type, content: body.text } } : {}),
  };
}
