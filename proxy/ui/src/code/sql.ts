/** Renders requests as equivalent SQL statements. */
import { isLosslessNumber, type Json } from "../api/json";
import { JSON_SYNTAX, literal } from "./literal";
import type { ApiRequest } from "./request";

/** Text as a PostgreSQL literal, with the default `standard_conforming_strings`. */
const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** A value as a jsonb literal. */
const jsonb = (value: unknown) => text(literal(value, JSON_SYNTAX));

type Members = { [member: string]: Json };
const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isLosslessNumber(value);

/** The placeholder for values that the user has not entered. */
const OPEN = "…";
const part = (encoded: string) => (/^\{.*\}$/.test(encoded) ? OPEN : decodeURIComponent(encoded));

type Statement = (found: {
  request: ApiRequest;
  table: string;
  id: string;
  body: Members;
  key: string;
}) => string | null;

/** `*` in a path stands for a template or the id of a record. */
const STATEMENTS: [request: string, Statement][] = [
  [
    "POST /v1/entities/search/*",
    // Only the service can call the embedding provider. The database takes vectors.
    ({ table, body }) => ("query_text" in body ? null : `select keyed.search(${table}, ${jsonb(body)});`),
  ],
  [
    "GET /v1/entities/template/*/by-key",
    ({ request, table }) => `select keyed.get_by_key(${table}, ${text(String(request.query?.key ?? OPEN))});`,
  ],
  [
    "PUT /v1/entities/template/*/by-key",
    ({ table, key, body }) =>
      `select * from keyed.upsert_by_key(${table}, ${key}, ${jsonb(body.attributes ?? {})});`,
  ],
  [
    "POST /v1/entities/template/*",
    ({ table, key, body }) => {
      const last = typeof body.external_key === "string" ? `, ${key}` : "";
      return `select keyed.create_record(${table}, ${jsonb(body.attributes ?? {})}${last});`;
    },
  ],
  ["GET /v1/entities/*", ({ id }) => `select keyed.get_record(${id});`],
  ["PATCH /v1/entities/*", ({ id, body }) => `select keyed.patch_record(${id}, ${jsonb(body)});`],
  ["DELETE /v1/entities/*", ({ id }) => `select keyed.delete_record(${id});`],
  ["GET /v1/entities/*/history", ({ id }) => `select * from keyed.history(${id});`],
  ["GET /v1/me", () => "select keyed.me();"],
];

function match(pattern: string, request: ApiRequest): string[] | null {
  const expected = pattern.split("/");
  const given = `${request.method} ${request.path}`.split("/");
  if (expected.length !== given.length) return null;
  const isMatch = expected.every((step, at) => step === "*" || step === given[at]);
  return isMatch ? expected.flatMap((step, at) => (step === "*" ? [part(given[at] ?? "")] : [])) : null;
}

/** The SQL statement equivalent to the request; null if there is none. */
export function sqlOf(request: ApiRequest): string | null {
  if (request.text) return null;
  for (const [pattern, statement] of STATEMENTS) {
    const found = match(pattern, request);
    if (!found) continue;
    const [name = OPEN] = found;
    const body = isMembers(request.body) ? request.body : {};
    const table = text(`${request.project || OPEN}.${name}`);
    const key = text(typeof body.external_key === "string" ? body.external_key : OPEN);
    return statement({ request, table, id: text(name), body, key });
  }
  return null;
}
