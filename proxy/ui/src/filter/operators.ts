/** The operators that the editor offers for each kind of field, in the order of the specification. */
import type { Json } from "../api/json";
import type { Attribute } from "../api/queries";
import { type ApiOperator, type Condition, isComparison, isNegation, valuesOf } from "./condition";

/** The kind of a field, which determines its operators. */
export type Kind =
  | "string"
  | "number"
  | "list"
  | "date"
  | "datetime"
  | "reference"
  | "boolean"
  | "external_key"
  | "id"
  | "template";

/** An operator of the editor. `not-ilike` is the negation of `ilike`, for which the service has no operator. */
export type Operator = ApiOperator | "not-ilike";

/** The number of values that an operator takes. */
export type Arity = "none" | "one" | "two" | "many";

const TEXT: Operator[] = ["eq", "ilike", "starts-with", "empty"];
const MORE_TEXT: Operator[] = [
  "in",
  "ends-with",
  "like",
  "neq",
  "not-in",
  "not-ilike",
  "not-like",
  "not-empty",
];
const NUMBER: Operator[] = ["eq", "gt", "lt", "gte", "lte", "between"];
const DATE: Operator[] = ["lt", "gt", "between", "today"];

/** The operators of the specification, then the other ones of the service. */
const OFFERED: Record<Kind, { first: Operator[]; more: Operator[] }> = {
  string: { first: TEXT, more: MORE_TEXT },
  number: { first: NUMBER, more: ["neq", "in", "not-in", "empty", "not-empty"] },
  list: { first: ["in", "not-in", "empty"], more: ["not-empty"] },
  date: { first: DATE, more: ["eq", "neq", "lte", "gte", "empty", "not-empty"] },
  datetime: { first: DATE, more: ["eq", "neq", "lte", "gte", "empty", "not-empty"] },
  reference: { first: ["eq", "in", "empty"], more: ["neq", "not-in", "not-empty"] },
  boolean: { first: ["eq", "empty"], more: ["neq", "not-empty"] },
  external_key: { first: ["eq", "in", "like", "empty"], more: ["neq", "not-in", "not-like", "not-empty"] },
  id: { first: ["eq", "in"], more: ["neq", "not-in"] },
  template: { first: ["eq", "in"], more: ["neq", "not-in"] },
};

/** The properties of a field that determine its operators. */
export type Operated = {
  kind: Kind;
  /** Whether every record has a value, such as its creation time. */
  isAlwaysSet?: boolean;
};

export function offered({ kind, isAlwaysSet }: Operated): { first: Operator[]; more: Operator[] } {
  const { first, more } = OFFERED[kind];
  if (!isAlwaysSet) return OFFERED[kind];
  const isUseful = (operator: Operator) => operator !== "empty" && operator !== "not-empty";
  return { first: first.filter(isUseful), more: more.filter(isUseful) };
}

export function isOffered(field: Operated, operator: Operator): boolean {
  const { first, more } = offered(field);
  return first.includes(operator) || more.includes(operator);
}

/** The initial operator of a new condition. */
export const firstOperator = (kind: Kind): Operator => {
  if (kind === "reference" || kind === "external_key") return "in";
  return kind === "string" ? "ilike" : (OFFERED[kind].first[0] as Operator);
};

export function arity(operator: Operator): Arity {
  if (operator === "empty" || operator === "not-empty" || operator === "today") return "none";
  if (operator === "between") return "two";
  return operator === "in" || operator === "not-in" ? "many" : "one";
}

export function kindOf(type: Attribute["type"]): Kind {
  if (type === "dimension") return "string";
  return type === "metric" ? "number" : type;
}

/** A condition on one field, split into parts for a form or a sentence. */
export type Simple = { field: string; operator: Operator; value?: Json };

/** The condition as a single comparison; null if it combines several. */
export function simple(condition: Condition): Simple | null {
  if (isComparison(condition)) return condition;
  if (isNegation(condition) && isComparison(condition.not) && condition.not.operator === "ilike")
    return { ...condition.not, operator: "not-ilike" };
  return null;
}

/** The condition in the format of the service. */
export function toCondition({ field, operator, value }: Simple): Condition {
  if (operator === "not-ilike") return { not: { field, operator: "ilike", value } };
  return arity(operator) === "none" ? { field, operator } : { field, operator, value };
}

/** The separate values; null if they cannot be separated. */
export const simpleValues = ({ field, operator, value }: Simple): Json[] | null =>
  valuesOf({ field, operator: operator === "not-ilike" ? "ilike" : operator, value });
