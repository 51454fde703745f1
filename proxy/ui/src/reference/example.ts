/** An example for a schema: from the document, or else the smallest valid value. */
import type { Json } from "../api/json";
import { type ApiDocument, type Content, resolve, type Schema } from "./document";

const MAX_DEPTH = 6;

export function exampleOf(document: ApiDocument, schema: Schema | undefined, depth = 0): Json {
  if (!schema || depth > MAX_DEPTH) return null;
  const it = resolve<Schema>(document, schema);
  const given = it.example ?? it.examples?.[0] ?? it.const ?? it.default ?? it.enum?.[0];
  if (given !== undefined) return given;
  const [choice] = (it.oneOf ?? it.anyOf ?? []).filter(
    (one) => resolve<Schema>(document, one).type !== "null",
  );
  if (choice) return exampleOf(document, choice, depth + 1);
  if (it.allOf) {
    const parts = it.allOf.map((part) => exampleOf(document, part, depth + 1));
    return Object.assign({}, ...parts) as Json;
  }
  const type = Array.isArray(it.type) ? it.type.find((one) => one !== "null") : it.type;
  if (type === "object" || it.properties) {
    const names = it.required ?? Object.keys(it.properties ?? {}).slice(0, 3);
    return Object.fromEntries(
      names.map((name) => [name, exampleOf(document, it.properties?.[name], depth + 1)]),
    );
  }
  if (type === "array") return it.items ? [exampleOf(document, it.items, depth + 1)] : [];
  if (type === "integer" || type === "number") return it.minimum ?? 1;
  if (type === "boolean") return false;
  return type === "string" ? ofFormat(it.format) : null;
}

function ofFormat(format: string | undefined): string {
  if (format === "uuid") return "01931f3e-5b2a-8c00-8000-000710f2a9c4";
  if (format === "date-time") return "2026-01-31T12:00:00Z";
  return format === "date" ? "2026-01-31" : "text";
}

/** The example of a body of one type. */
export function exampleOfContent(document: ApiDocument, content: Content, type: string): Json | undefined {
  const part = content[type];
  if (!part) return undefined;
  const [named] = Object.values(part.examples ?? {});
  return part.example ?? named?.value ?? exampleOf(document, part.schema);
}
