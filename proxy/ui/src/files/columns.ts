/** The mapping of file columns to attributes. */
import type { Attribute, Template } from "../api/queries";
import { type CellCheck, checkCell, checkKeyCell } from "./cells";
import type { Reading } from "./reading";

export const KEY = "external_key";

/** `null` leaves the column out; `KEY` is the external key; otherwise the slug of an attribute. */
export type Target = string | null;

/** Columns that the service recognizes or ignores in every template. */
const STANDARD = [
  "id",
  "template_id",
  "template_slug",
  "created_at",
  "updated_at",
  "deleted_at",
  "import_error",
];

export const isStandard = (column: string) => STANDARD.includes(column);

const KEY_NAMES = ["externalkey", "key", "nr", "no", "number", "code", "sku", "externalid", "ref"];

const plain = (name: string) =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]/gu, "");

/** Matches attributes by name; among equal candidates, the first column. The key column is matched by name or content. */
export function matchColumns(template: Template, reading: Reading): Target[] {
  const taken = new Set<string>();
  const take = (slug: string | undefined) => {
    if (slug === undefined || taken.has(slug)) return null;
    taken.add(slug);
    return slug;
  };
  const find = (test: (attribute: Attribute) => boolean) => template.attributes.find(test)?.slug;
  const { header } = reading;
  const targets: Target[] = header.map((name) => {
    if (name === KEY) return take(KEY);
    return isStandard(name) ? null : take(find(({ slug }) => slug === name));
  });
  header.forEach((name, column) => {
    if (targets[column] !== null || isStandard(name) || plain(name) === "") return;
    targets[column] = take(
      find(({ label }) => label === name) ??
        find(({ slug, label }) => plain(slug) === plain(name) || plain(label ?? "") === plain(name)),
    );
  });
  if (!taken.has(KEY)) {
    const column = header.findIndex(
      (name, index) =>
        targets[index] === null && KEY_NAMES.includes(plain(name)) && isDistinct(reading, index),
    );
    if (column >= 0) targets[column] = take(KEY);
  }
  return targets;
}

/** Whether all sampled cells of a column are distinct. */
function isDistinct({ rows }: Reading, column: number): boolean {
  const cells = rows.map((row) => row.cells[column] ?? "");
  return cells.every((cell) => cell !== "") && new Set(cells).size === cells.length;
}

export type Fit = Record<CellCheck, number> & { example: string | null };

/** The number of valid cells in a sampled column, and an example of an invalid one. */
export function fitOf(template: Template, target: string, reading: Reading, column: number): Fit {
  const attribute = template.attributes.find(({ slug }) => slug === target);
  const fit: Fit = { fits: 0, empty: 0, rejected: 0, unknown: 0, example: null };
  for (const { cells } of reading.rows) {
    const cell = cells[column] ?? "";
    const is = target === KEY || !attribute ? checkKeyCell(cell) : checkCell(attribute, cell);
    fit[is]++;
    if (is === "rejected") fit.example ??= cell;
  }
  return fit;
}

export type MappingProblem = { kind: "twice"; target: string } | { kind: "missing"; attribute: Attribute };

/** Problems that prevent importing these columns, or leave new records incomplete. */
export function problemsOf(template: Template, targets: Target[]): MappingProblem[] {
  const twice = [...new Set(targets.filter((it, at) => it !== null && targets.indexOf(it) !== at))];
  const missing = template.attributes.filter(
    (it) => it.required && (it.default ?? null) === null && !targets.includes(it.slug),
  );
  return [
    ...twice.map((target) => ({ kind: "twice" as const, target: target as string })),
    ...missing.map((attribute) => ({ kind: "missing" as const, attribute })),
  ];
}

/** The import parameters of a mapping: `mapping` only for columns that the service would match differently. */
export function mappingOf(header: string[], targets: Target[]): Record<string, Target> {
  const entries = header.map((name, at) => [name, targets[at] ?? null] as const);
  // Of two columns with the same name, the used one counts. The service then rejects both rather than lose one.
  const used = new Set(entries.flatMap(([name, target]) => (target === null ? [] : [name])));
  return Object.fromEntries(
    // The service ignores a column without a name, unless it has values.
    entries.filter(
      ([name, target]) => target !== null || !(name === "" || used.has(name) || isStandard(name)),
    ),
  );
}

/** For each reference, the text attribute by which the file identifies the target, if it is not the external key. */
export type Matching = Record<string, string>;

/** The `match` parameter for mapped references; null if there are none. */
export function matchOf(targets: Target[], matching: Matching): Matching | null {
  const used = Object.entries(matching).filter(([slug]) => targets.includes(slug));
  return used.length === 0 ? null : Object.fromEntries(used);
}
