/** Which attribute each column of a file fills. */
import type { Attribute, Template } from "../api/queries";
import { keyVerdict, type Verdict, verdict } from "./cells";
import type { Reading } from "./reading";

export const KEY = "external_key";

/** `null` leaves the column out; `KEY` is the external key; else the slug of an attribute. */
export type Target = string | null;

/** Columns that the service reads or passes over by itself, in every template. */
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

/** Guesses by name; of equally good columns, the first. The key is a column named so, or else one like a key. */
export function guess(template: Template, reading: Reading): Target[] {
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

/** Whether every sampled cell of a column is there once. */
function isDistinct({ rows }: Reading, column: number): boolean {
  const cells = rows.map((row) => row.cells[column] ?? "");
  return cells.every((cell) => cell !== "") && new Set(cells).size === cells.length;
}

export type Fit = Record<Verdict, number> & { example: string | null };

/** How many cells of a sampled column fit their target; an example of one that does not. */
export function fitOf(template: Template, target: string, reading: Reading, column: number): Fit {
  const attribute = template.attributes.find(({ slug }) => slug === target);
  const fit: Fit = { fits: 0, empty: 0, rejected: 0, unknown: 0, example: null };
  for (const { cells } of reading.rows) {
    const cell = cells[column] ?? "";
    const is = target === KEY || !attribute ? keyVerdict(cell) : verdict(attribute, cell);
    fit[is]++;
    if (is === "rejected") fit.example ??= cell;
  }
  return fit;
}

export type Fault = { kind: "twice"; target: string } | { kind: "missing"; attribute: Attribute };

/** What keeps these columns from being imported, or new records from being complete. */
export function faultsOf(template: Template, targets: Target[]): Fault[] {
  const twice = [...new Set(targets.filter((it, at) => it !== null && targets.indexOf(it) !== at))];
  const missing = template.attributes.filter(
    (it) => it.required && (it.default ?? null) === null && !targets.includes(it.slug),
  );
  return [
    ...twice.map((target) => ({ kind: "twice" as const, target: target as string })),
    ...missing.map((attribute) => ({ kind: "missing" as const, attribute })),
  ];
}

/** The parameters of the import that say so: `mapping` for the columns that the service would take otherwise. */
export function mappingOf(header: string[], targets: Target[]): Record<string, Target> {
  const entries = header.map((name, at) => [name, targets[at] ?? null] as const);
  // Of two columns of one name, the one that is used counts: the service then rejects both rather than lose one.
  const used = new Set(entries.flatMap(([name, target]) => (target === null ? [] : [name])));
  return Object.fromEntries(
    // The service passes over a column without a name, unless it has a value.
    entries.filter(
      ([name, target]) => target !== null || !(name === "" || used.has(name) || isStandard(name)),
    ),
  );
}

/** The string of the target by which a file names it, for each reference that it does not name by external key. */
export type Matching = Record<string, string>;

/** Of references that a column fills, as the service takes it; null if there are none. */
export function matchOf(targets: Target[], matching: Matching): Matching | null {
  const used = Object.entries(matching).filter(([slug]) => targets.includes(slug));
  return used.length === 0 ? null : Object.fromEntries(used);
}
