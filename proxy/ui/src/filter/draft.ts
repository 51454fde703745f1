/** A condition while it is edited in the form. */
import type { Json } from "../api/json";
import { messages } from "../language";
import { numberOf, textOf } from "../value/exact";
import type { Condition } from "./condition";
import type { Field } from "./fields";
import {
  arity,
  firstOperator,
  isOffered,
  type Operator,
  simple,
  simpleValues,
  toCondition,
} from "./operators";

/** Numbers are kept as typed, so that no digit is lost and incomplete input stays. */
export type Draft = { field: Field; operator: Operator; values: (Json | null)[] };

export function newDraft(field: Field): Draft {
  // The first of two states is preselected, so that Enter accepts it.
  return { field, operator: firstOperator(field.kind), values: field.kind === "boolean" ? [true] : [] };
}

/** The draft of a condition that the form supports. */
export function draftOf(condition: Condition, field: Field): Draft | null {
  const it = simple(condition);
  const values = it && simpleValues(it);
  if (!it || !values || !isOffered(field, it.operator)) return null;
  return { field, operator: it.operator, values: values.map((value) => read(value, field)) };
}

function read(value: Json, { kind }: Field): Json {
  if (kind === "number" || kind === "string" || kind === "external_key") return textOf(value);
  return kind === "boolean" ? value === true || value === "true" : value;
}

/** The same values with another operator, as far as it accepts them. */
export function withOperator(draft: Draft, operator: Operator): Draft {
  const takes = arity(operator);
  const given = draft.values.filter((value) => value !== null && value !== "");
  const most = { none: 0, one: 1, two: 2, many: given.length }[takes];
  return { ...draft, operator, values: given.slice(0, most) };
}

export type Checked = { condition: Condition } | { message: string; index: number };

const t = messages.filter;

/** The condition of the draft, or the error that prevents one. */
export function check({ field, operator, values }: Draft): Checked {
  const takes = arity(operator);
  const made = (value?: Json) => ({
    condition: toCondition({ field: field.path, operator, ...(value === undefined ? {} : { value }) }),
  });
  if (takes === "none") return made();
  const most = takes === "one" ? 1 : takes === "two" ? 2 : Math.max(values.length, 1);
  const checked: Json[] = [];
  for (let index = 0; index < most; index++) {
    const value = values[index] ?? null;
    if (value === null || value === "") return { message: missing(field, takes === "many"), index };
    const number = field.kind === "number" ? numberOf(String(value)) : undefined;
    if (field.kind === "number" && number === undefined) return { message: t.needNumber, index };
    checked.push(number ?? value);
  }
  const [from, to] = checked;
  if (takes === "two" && isAfter(from, to, field)) return { message: t.needOrder, index: 1 };
  return made(takes === "one" ? from : checked);
}

function missing({ kind }: Field, isMany: boolean): string {
  if (isMany) return t.needValues;
  if (kind === "number") return t.needNumber;
  return kind === "date" || kind === "datetime" ? t.needDate : t.needValue;
}

/** Whether the first value is certainly after the second. */
function isAfter(from: Json | undefined, to: Json | undefined, { kind }: Field): boolean {
  if (kind === "number") return Number(from) > Number(to);
  // A day ends after each moment in it.
  return Date.parse(String(from).slice(0, 10)) > Date.parse(String(to).slice(0, 10));
}
