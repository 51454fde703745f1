/** Reads the OpenAPI document of the service. */
import type { Json } from "../api/json";
import type { Method } from "../code/request";

export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: Json[];
  "x-extensible-enum"?: Json[];
  const?: Json;
  default?: Json;
  examples?: Json[];
  example?: Json;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
};

export type Parameter = {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  description?: string;
  required?: boolean;
  schema?: Schema;
  example?: Json;
};

export type Content = Record<
  string,
  { schema?: Schema; example?: Json; examples?: Record<string, { value?: Json }> }
>;
export type ApiResponse = { description?: string; content?: Content; headers?: Record<string, Header> };
export type Header = { description?: string; schema?: Schema; $ref?: string };

export type Operation = {
  id: string;
  tag: string;
  method: Method;
  path: string;
  summary: string;
  description?: string;
  /** Whether the operation needs no key. */
  isOpen: boolean;
  parameters: Parameter[];
  body?: { description?: string; required?: boolean; content: Content };
  responses: [status: string, ApiResponse][];
};

type Reference = { $ref: string };
type RawOperation = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: unknown[];
  parameters?: (Parameter | Reference)[];
  requestBody?: Operation["body"] | Reference;
  responses?: Record<string, ApiResponse | Reference>;
};
export type ApiDocument = {
  info: { title: string; version: string; summary?: string; description?: string };
  tags?: { name: string; description?: string }[];
  security?: unknown[];
  paths: Record<string, Record<string, RawOperation | Parameter[]>>;
  components?: unknown;
};

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** The target of a reference such as `#/components/schemas/Record`. */
export function resolve<T>(document: ApiDocument, it: T | Reference): T {
  if (typeof it !== "object" || it === null || !("$ref" in it) || typeof it.$ref !== "string") return it as T;
  const steps = it.$ref.replace(/^#\//, "").split("/");
  const names = steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let found: unknown = document;
  for (const name of names) found = (found as Record<string, unknown> | undefined)?.[name];
  return (found ?? {}) as T;
}

/** The last part of a reference: "Record". */
export const nameOfReference = (schema: Schema): string | null => schema.$ref?.split("/").at(-1) ?? null;

/** All operations, in the order of the document's tags. */
export function operations(document: ApiDocument): Operation[] {
  const order = (document.tags ?? []).map(({ name }) => name);
  const position = (tag: string) => (order.includes(tag) ? order.indexOf(tag) : order.length);
  return Object.entries(document.paths)
    .flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const raw = item[method] as RawOperation | undefined;
        return raw
          ? [operation(document, path, method, raw, item.parameters as Parameter[] | undefined)]
          : [];
      }),
    )
    .sort((a, b) => position(a.tag) - position(b.tag));
}

function operation(
  document: ApiDocument,
  path: string,
  method: (typeof METHODS)[number],
  raw: RawOperation,
  shared: (Parameter | Reference)[] = [],
): Operation {
  const body = raw.requestBody && resolve<Operation["body"]>(document, raw.requestBody);
  return {
    id: raw.operationId ?? `${method} ${path}`,
    tag: raw.tags?.[0] ?? "",
    method: method.toUpperCase() as Method,
    path,
    summary: raw.summary ?? path,
    ...(raw.description ? { description: raw.description } : {}),
    isOpen: (raw.security ?? document.security ?? []).length === 0,
    parameters: [...shared, ...(raw.parameters ?? [])].map((it) => resolve<Parameter>(document, it)),
    ...(body ? { body } : {}),
    responses: Object.entries(raw.responses ?? {}).map(([status, it]) => [
      status,
      resolve<ApiResponse>(document, it),
    ]),
  };
}

/** Whether the operation only reads. Searches are POST requests, because their body is too long for an address. */
export const isReading = ({ method, id, path }: Operation): boolean =>
  method === "GET" ||
  (method === "POST" && (/search|dryRun|validate|explain|preview/i.test(id) || path.endsWith("/export")));
