/** Conditions as sentences that read aloud: "City is Bern or Basel". */
import type { Json } from "../api/json";
import { type Format, formatOfAll } from "../format/number";
import { messages } from "../language";
import { type Condition, isAllOf, isAnyOf, isComparison } from "./condition";
import type { Field, Fields } from "./fields";
import { arity, isOffered, type Simple, simple, simpleValues } from "./operators";
import { readValue } from "./reading";

const phrases = messages.filter.sentence;

/** The context of sentences: the fields, and the names of referenced records by id or external key. */
export type Context = { fields: Fields; names?: ReadonlyMap<string, string>; locale?: string };

/** The parts of a sentence: subject, verb and value. */
export type Phrase = { subject: string; verb: string; value: string };

/** The maximum number of values in a sentence. The others are counted. */
const MAX_NAMED = 3;

/** A value in a sentence. */
export function named(
  value: Json,
  field: Field | null,
  { names, locale }: Context,
  format: Format | undefined = field?.attribute?.format,
): string {
  if (field?.kind === "reference" && value !== null) {
    const key = typeof value === "object" && "external_key" in value ? String(value.external_key) : null;
    return names?.get(key ?? String(value)) ?? key ?? messages.filter.unknownRecord;
  }
  const option = field?.attribute?.options?.find((it) => it.value === value);
  if (option) return option.label || option.value;
  const text = readValue(value, field?.kind ?? null, locale, format);
  // Quote text that would be invisible or read as part of the sentence.
  return /^\s*$|^\s|\s$|,| or /.test(text) && field?.kind === "string" ? phrases.quoted(text) : text;
}

function phraseOf(it: Simple, context: Context): Phrase {
  const field = context.fields.find(it.field);
  const subject = field?.label ?? it.field;
  const name = subject.split(" › ").at(-1) ?? subject;
  // A value that cannot be split is shown as sent.
  const values = simpleValues(it) ?? [it.value ?? null];
  const shown = values.length > MAX_NAMED + 1 ? values.slice(0, MAX_NAMED) : values;
  const own = field?.attribute?.format;
  const format = field?.kind === "number" ? formatOfAll(own, values) : own;
  const texts = shown.map((value) => named(value, field, context, format));
  const more = values.length - shown.length;
  const or = texts.length === 0 ? phrases.noValue : phrases.or(texts, more);
  const quoted = phrases.quoted(values.map((value) => readValue(value, null, context.locale)).join(", "));
  const caseSensitive = field?.kind === "external_key" ? quoted : phrases.caseSensitive(quoted);
  const isDate = field?.kind === "date" || field?.kind === "datetime";
  const part = (verb: string, value = "") => ({ subject, verb, value });
  const split = ([verb, value]: readonly [string, string]) => ({ subject, verb, value });

  switch (it.operator) {
    case "eq":
      return part(isDate ? phrases.on : phrases.is(name), or);
    case "neq":
      return part(isDate ? phrases.notOn : phrases.isNot(name), or);
    case "in":
      return part(
        isDate ? phrases.on : field?.kind === "list" ? phrases.includes(name) : phrases.is(name),
        or,
      );
    case "not-in":
      return split((field?.kind === "list" ? phrases.includesNone : phrases.isNone)(name, texts, more));
    case "ilike":
      return part(phrases.contains(name), quoted);
    case "not-ilike":
      return part(phrases.containsNot(name), quoted);
    case "like":
      return part(phrases.contains(name), caseSensitive);
    case "not-like":
      return part(phrases.containsNot(name), caseSensitive);
    case "starts-with":
      return part(phrases.startsWith(name), quoted);
    case "ends-with":
      return part(phrases.endsWith(name), quoted);
    case "gt":
      return part(isDate ? phrases.after : phrases.more(name), or);
    case "gte":
      return part(isDate ? phrases.onOrAfter : phrases.atLeast(name), or);
    case "lt":
      return part(isDate ? phrases.before : phrases.less(name), or);
    case "lte":
      return part(isDate ? phrases.onOrBefore : phrases.atMost(name), or);
    case "between": {
      const [from = "", to = ""] = texts;
      return part(isDate ? phrases.dateBetween : phrases.isBetween(name), phrases.between(from, to));
    }
    case "today":
      return part(phrases.today);
    case "empty":
      return part(field?.kind === "reference" ? phrases.unlinked(name) : phrases.empty(name));
    case "not-empty":
      return part(field?.kind === "reference" ? phrases.linked(name) : phrases.notEmpty(name));
  }
}

/** The parts of a condition on one field; null if it combines several conditions. */
export function phrase(condition: Condition, context: Context): Phrase | null {
  const it = simple(condition);
  return it && phraseOf(it, context);
}

/** The condition as a sentence. */
export function sentence(condition: Condition, context: Context): string {
  const it = phrase(condition, context);
  if (it) return phrases.join(it.subject, it.verb, it.value);
  const inner = (part: Condition) => {
    const text = sentence(part, context);
    return isAnyOf(part) || isAllOf(part) ? phrases.inner(text) : text;
  };
  if (isAnyOf(condition)) return phrases.any(condition.or.map(inner));
  if (isAllOf(condition)) return phrases.all(condition.and.map(inner));
  return isComparison(condition) ? "" : phrases.not(sentence(condition.not, context));
}

/** Whether the form supports the condition, or each condition in it. */
export function hasForm(condition: Condition, fields: Fields, isInner = false): boolean {
  const it = simple(condition);
  if (it) {
    const field = fields.find(it.field);
    if (field === null || !isOffered(field, it.operator)) return false;
    const values = simpleValues(it);
    const takes = arity(it.operator);
    return values !== null && (takes !== "two" || values.length === 2);
  }
  if (isAnyOf(condition)) return condition.or.every((part) => hasForm(part, fields, true));
  return isAllOf(condition) && isInner && condition.and.every((part) => hasForm(part, fields, true));
}
