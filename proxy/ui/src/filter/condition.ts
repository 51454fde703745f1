/** The conditions of a search in the format of the service, and functions on them. */
import type { Schemas } from "../api/client";
import { isLosslessNumber, type Json, renderJson } from "../api/json";

export type ApiOperator = Schemas["Comparison"]["operator"];

/** All operators of the service. Compilation fails if the OpenAPI document has others. */
const OPERATORS: Record<ApiOperator, true> = {
  eq: true,
  neq: true,
  in: true,
  "not-in": true,
  like: true,
  "not-like": true,
  ilike: true,
  "starts-with": true,
  "ends-with": true,
  gt: true,
  gte: true,
  lt: true,
  lte: true,
  between: true,
  today: true,
  empty: true,
  "not-empty": true,
};

export const API_OPERATORS = Object.keys(OPERATORS) as ApiOperator[];

export type Comparison = { field: string; operator: ApiOperator; value?: Json };
export type AnyOf = { or: Condition[] };
export type AllOf = { and: Condition[] };
export type Negation = { not: Condition };
export type Condition = Comparison | AnyOf | AllOf | Negation;

export const isComparison = (it: Condition): it is Comparison => "operator" in it;
export const isAnyOf = (it: Condition): it is AnyOf => "or" in it;
export const isAllOf = (it: Condition): it is AllOf => "and" in it;
export const isNegation = (it: Condition): it is Negation => "not" in it;

/** The maximum nesting depth of the service. */
export const MAX_LEVELS = 10;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isLosslessNumber(value);

/** Whether a value has the form of a condition. The service validates its fields and values. */
export function isCondition(value: unknown, levels = MAX_LEVELS): value is Condition {
  if (!isObject(value) || levels < 0) return false;
  const members = Object.keys(value);
  const areConditions = (list: unknown) =>
    Array.isArray(list) && list.every((part) => isCondition(part, levels - 1));
  if (members.length === 1 && "or" in value) return areConditions(value.or);
  if (members.length === 1 && "and" in value) return areConditions(value.and);
  if (members.length === 1 && "not" in value) return isCondition(value.not, levels - 1);
  return (
    typeof value.field === "string" &&
    API_OPERATORS.includes(value.operator as ApiOperator) &&
    members.every((member) => ["field", "operator", "value"].includes(member))
  );
}

/** Whether two conditions, or lists of them, are written alike. Numbers are compared by their digits. */
export const isSame = (a: unknown, b: unknown): boolean => renderJson(ordered(a)) === renderJson(ordered(b));

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((member) => [member, ordered(value[member])]),
  );
}

type Filtered = { filters?: unknown; filter_groups?: unknown };

/** The condition equivalent to `filter_groups`: at least one group matches, with all its conditions. */
function conditionOfGroups(groups: unknown): Condition[] {
  if (!Array.isArray(groups) || groups.length === 0) return [];
  const parts = groups.map((group): unknown => {
    if (!Array.isArray(group)) return group;
    return group.length === 1 ? group[0] : { and: group };
  });
  return [(parts.length === 1 ? parts[0] : { or: parts }) as Condition];
}

/** The conditions of a search or saved view, all of which must match. */
export function conditionsOfSearch({ filters, filter_groups }: Filtered): Condition[] {
  const all = [
    ...(Array.isArray(filters) ? (filters as Condition[]) : []),
    ...conditionOfGroups(filter_groups),
  ];
  return all.flatMap((it) => (isObject(it) && isAllOf(it as Condition) ? (it as AllOf).and : [it]));
}

/** The conditions of a scope, which is a search's filters, an array of conditions, or one condition. */
export function conditionsOfScope(scope: unknown): Condition[] {
  if (scope === null || scope === undefined) return [];
  if (Array.isArray(scope)) return scope as Condition[];
  if (isObject(scope) && ("filters" in scope || "filter_groups" in scope)) return conditionsOfSearch(scope);
  return isObject(scope) && Object.keys(scope).length > 0 ? [scope as Condition] : [];
}

/** All comparisons in conditions, at every level. */
export function comparisonsOf(conditions: readonly Condition[]): Comparison[] {
  return conditions.flatMap((it) => {
    if (isComparison(it)) return [it];
    if (isAnyOf(it)) return comparisonsOf(it.or);
    if (isAllOf(it)) return comparisonsOf(it.and);
    return comparisonsOf([it.not]);
  });
}

/**
 * The separate values of a comparison: the elements of an array, or the comma-separated values of text, which the
 * service splits for operators that take several. Null if the service would reject the text.
 */
export function valuesOf({ operator, value }: Comparison): Json[] | null {
  if (operator === "empty" || operator === "not-empty" || operator === "today") return [];
  if (value === undefined || value === null) return null;
  const takesMany = operator === "in" || operator === "not-in" || operator === "between";
  if (Array.isArray(value)) return takesMany ? value : null;
  if (!takesMany || typeof value !== "string") return [value];
  // A JSON array in text is rare and stays unchanged.
  if (/^ *[[{]/.test(value)) return null;
  return splitAtCommas(value);
}

const DAY = /(?<![\d-])\d{4}-\d\d-\d\d(?![\dT-])/;

/** Whether conditions contain a day, whose beginning depends on the time zone. */
export const containDay = (conditions: readonly Condition[]): boolean =>
  comparisonsOf(conditions).some(
    ({ operator, value }) => operator === "today" || DAY.test(renderJson(value ?? null)),
  );

/** Splits `oil, "a, b"` into oil and a, b, as in RFC 4180. */
export function splitAtCommas(text: string): string[] | null {
  const values: string[] = [];
  const part = / *(?:"((?:[^"]|"")*)"|([^",][^,]*)) *(,|$)/y;
  do {
    const found = part.exec(text);
    if (!found) return null;
    values.push(found[1] === undefined ? (found[2] ?? "").trimEnd() : found[1].replaceAll('""', '"'));
    if (found[3] === "") return values;
  } while (part.lastIndex <= text.length);
  return null;
}

type Named = { attributes: readonly { id: string; slug: string }[] };

/** Replaces attribute ids in field paths by slugs, for searches with `attribute_key: "id"`. */
export function slugPath(templates: readonly Named[]): (field: string) => string {
  const slugs = new Map(templates.flatMap(({ attributes }) => attributes.map(({ id, slug }) => [id, slug])));
  return (field) =>
    field
      .split(".")
      .map((part) => slugs.get(part) ?? part)
      .join(".");
}

/** The condition with renamed fields. */
export function renamed(it: Condition, rename: (field: string) => string): Condition {
  const inner = (part: Condition) => renamed(part, rename);
  if (isAnyOf(it)) return { or: it.or.map(inner) };
  if (isAllOf(it)) return { and: it.and.map(inner) };
  return isComparison(it) ? { ...it, field: rename(it.field) } : { not: inner(it.not) };
}
