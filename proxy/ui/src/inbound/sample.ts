/** The jsonpath expressions of the values in a sample payload. */
import type { Json } from "../api/json";
import type { Attribute } from "../api/queries";

export type SamplePath = { path: string; example: string };

const MAX_PATHS = 200;
const MAX_DEPTH = 6;

type Members = { [member: string]: Json };

const isMembers = (json: Json | undefined): json is Members =>
  typeof json === "object" &&
  json !== null &&
  !Array.isArray(json) &&
  Object.getPrototypeOf(json) === Object.prototype;

/** `.name`, or `."first name"` for other names. */
function step(member: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(member) ? `.${member}` : `.${JSON.stringify(member)}`;
}

function shown(json: Json): string {
  const text = Array.isArray(json) ? json.map(String).join(", ") : String(json);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** The paths in an item whose values an attribute can take: scalars and arrays of scalars. */
export function pathsOf(item: Json): SamplePath[] {
  const paths: SamplePath[] = [];
  const visit = (json: Json, path: string, depth: number) => {
    if (paths.length >= MAX_PATHS || depth > MAX_DEPTH) return;
    if (isMembers(json)) {
      for (const [member, value] of Object.entries(json)) visit(value, path + step(member), depth + 1);
    } else if (!Array.isArray(json)) {
      if (path !== "$") paths.push({ path, example: shown(json) });
    } else if (isMembers(json[0])) {
      visit(json[0], `${path}[*]`, depth + 1);
    } else {
      paths.push({ path: `${path}[*]`, example: shown(json) });
    }
  };
  visit(item, "$", 0);
  return paths;
}

/** The possible paths of the items: arrays of objects in the payload, and the payload itself. */
export function itemsOf(payload: Json): { path: string; items: Json[] }[] {
  const found: { path: string; items: Json[] }[] = [];
  const visit = (json: Json, path: string, depth: number) => {
    if (depth > 3) return;
    if (Array.isArray(json)) {
      if (isMembers(json[0])) found.push({ path: `${path}[*]`, items: json });
    } else if (isMembers(json)) {
      for (const [member, value] of Object.entries(json)) visit(value, path + step(member), depth + 1);
    }
  };
  visit(payload, "$", 0);
  if (!Array.isArray(payload)) found.push({ path: "$", items: [payload] });
  return found;
}

/** The first item of a payload at one of the paths from `itemsOf`. */
export function firstItem(payload: Json, items: string): Json | undefined {
  const written = items.trim() === "" ? "$" : items.trim();
  return itemsOf(payload).find(({ path }) => path === written)?.items[0];
}

const KEY_NAMES = ["external_key", "external_id", "id", "uuid", "key", "number", "code", "sku"];

const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

const lastStep = (path: string) => path.replaceAll("[*]", "").split(".").at(-1) ?? "";

/** A proposed mapping: items, key, and attributes matched by name. */
export function matchColumns(payload: Json, attributes: readonly Attribute[]) {
  const [first] = itemsOf(payload);
  const paths = pathsOf(first?.items[0] ?? null);
  const named = (names: (string | null | undefined)[]) => {
    const candidates = names.map((name) => plain(name ?? ""));
    return paths.find(({ path }) => candidates.includes(plain(lastStep(path))))?.path;
  };
  const key = KEY_NAMES.map((name) => named([name])).find((path) => path !== undefined);
  const mapping: Record<string, string> = {};
  for (const { slug, label } of attributes) {
    const path = named([slug, label]);
    if (path !== undefined) mapping[slug] = path;
  }
  return { items: first?.path ?? "$", external_key: key ?? "$.id", mapping };
}
