/**
 * Conditions in an address, for people to read, write and share: one parameter `f` per condition.
 *
 *     f=city:in:Bern,Basel&f=born:lt:1980-01-01&f=or(company:empty;credit:gte:100.50)
 *
 * A bare value is a number or `true` or `false` if it looks like one; otherwise it is text. `~` escapes a character.
 * Before a value, it makes the value text: `zip:eq:~8001`. `@erp:4711` is a record by its key. Conditions that this form
 * cannot express are JSON.
 */
import { exact, isLosslessNumber, type Json, parseJson, renderJson } from "../api/json";
import {
  API_OPERATORS,
  type ApiOperator,
  type Condition,
  isCondition,
  isSame,
  MAX_LEVELS,
} from "./condition";

/** The name of the parameter. */
export const PARAMETER = "f";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const takesMany = (operator: ApiOperator) =>
  operator === "in" || operator === "not-in" || operator === "between";

function renderValue(value: Json): string | null {
  if (typeof value === "number" || isLosslessNumber(value)) return String(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") {
    const text = value.replace(/[~,;()]/g, "~$&");
    return /^(true|false|@.*)$/s.test(text) || NUMBER.test(text) ? `~${text}` : text;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { external_key: key, ...others } = value;
  if (typeof key !== "string" || Object.keys(others).length > 0) return null;
  return `@${key.replace(/[~,;()]/g, "~$&")}`;
}

function render(condition: Condition): string | null {
  if ("not" in condition) return wrap("not", [condition.not]);
  if ("and" in condition) return wrap("and", condition.and);
  if ("or" in condition) return wrap("or", condition.or);
  const { field, operator, value } = condition;
  if (value === undefined) return `${field}:${operator}`;
  const values = Array.isArray(value) ? value : [value];
  const texts = values.map(renderValue);
  return texts.includes(null) ? null : `${field}:${operator}:${texts.join(",")}`;
}

function wrap(word: string, parts: Condition[]): string | null {
  const texts = parts.map(render);
  return texts.includes(null) ? null : `${word}(${texts.join(";")})`;
}

/** A condition as the value of a parameter. */
export function encodeCondition(condition: Condition): string {
  const text = render(condition);
  // A condition that would not round-trip, such as text for several values, is JSON.
  return text !== null && isSame(decodeCondition(text), condition) ? text : renderJson(condition);
}

/** Parses text from its beginning. */
class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at === this.text.length;
  }

  take(expected: string): boolean {
    const found = this.text.startsWith(expected, this.at);
    if (found) this.at += expected.length;
    return found;
  }

  word(form: RegExp): string | null {
    form.lastIndex = this.at;
    const found = form.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  condition(levels: number): Condition | null {
    if (levels < 0) return null;
    if (this.take("not(")) {
      const part = this.condition(levels - 1);
      return part !== null && this.take(")") ? { not: part } : null;
    }
    for (const word of ["or", "and"] as const) {
      if (!this.take(`${word}(`)) continue;
      const parts = this.parts(levels - 1);
      if (parts === null) return null;
      return word === "or" ? { or: parts } : { and: parts };
    }
    return this.comparison();
  }

  private parts(levels: number): Condition[] | null {
    const parts: Condition[] = [];
    if (this.take(")")) return parts;
    do {
      const part = this.condition(levels);
      if (part === null) return null;
      parts.push(part);
    } while (this.take(";"));
    return this.take(")") ? parts : null;
  }

  private comparison(): Condition | null {
    const field = this.word(/[A-Za-z0-9_.]+/y);
    if (field === null || !this.take(":")) return null;
    const operator = this.word(/[a-z-]+/y) as ApiOperator | null;
    if (operator === null || !API_OPERATORS.includes(operator)) return null;
    if (!this.take(":")) return { field, operator };
    if (!takesMany(operator)) return { field, operator, value: this.value() };
    const values: Json[] = [];
    do values.push(this.value());
    while (this.take(","));
    return { field, operator, value: values };
  }

  private value(): Json {
    const raw = this.word(/(?:~.|[^~,;()])*/sy) ?? "";
    const text = raw.replace(/~(.)/gs, "$1");
    if (raw === "true" || raw === "false") return raw === "true";
    if (NUMBER.test(raw)) return exact(raw);
    return raw.startsWith("@") ? { external_key: text.slice(1) } : text;
  }
}

/** The condition in a parameter's value; null if it cannot be parsed. */
export function decodeCondition(text: string): Condition | null {
  if (text.startsWith("{")) {
    try {
      const value = parseJson(text);
      return isCondition(value) ? value : null;
    } catch {
      return null;
    }
  }
  const reader = new Reader(text);
  const condition = reader.condition(MAX_LEVELS);
  return condition !== null && reader.isAtEnd ? condition : null;
}

/** The values of the parameter `f` for these conditions. */
export const encodeConditions = (conditions: readonly Condition[]): string[] =>
  conditions.map(encodeCondition);

/** The conditions in the values of the parameter `f`; `ignored` are those that cannot be parsed. */
export function decodeConditions(texts: readonly string[]): { conditions: Condition[]; ignored: string[] } {
  const conditions: Condition[] = [];
  const ignored: string[] = [];
  for (const text of texts) {
    const condition = decodeCondition(text);
    if (condition === null) ignored.push(text);
    else conditions.push(condition);
  }
  return { conditions, ignored };
}

/** Encodes a parameter value with as few escapes as possible: `f=city:in:Bern,Basel`. */
export const readableParameter = (value: string): string =>
  encodeURIComponent(value.replace(/\p{Surrogate}/gu, "\uFFFD")).replace(/%(3A|2C|3B|40|2F)/g, (sign) =>
    decodeURIComponent(sign),
  );
