/** Converts between typed text and values without loss. */
import { type ExactNumber, exact, isLosslessNumber, type Json } from "../api/json";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The exact number in typed text; undefined if it is not a number. Spaces and a plus sign are allowed. */
export function numberOf(text: string): ExactNumber | undefined {
  const plain = text
    .replace(/[\s\u00a0\u202f'’_]/g, "")
    .replace("\u2212", "-")
    .replace(/^\+/, "")
    .replace(/^(-?)0+(?=\d)/, "$1")
    .replace(/^(-?)\./, "$10.");
  return NUMBER.test(plain) ? exact(plain) : undefined;
}

/** A value as editable text, with every digit. */
export function textOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "";
  if (isLosslessNumber(value)) return value.toString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const isNumber = (it: Json | undefined) => typeof it === "number" || isLosslessNumber(it);

/** Whether two values are equal, digit by digit. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((it, index) => isSame(it, other[index]));
  }
  return isNumber(one) && isNumber(other) && textOf(one) === textOf(other);
}

/** The digits of a time below the millisecond, which JavaScript's Date lacks: "123" of "…00.000123Z". */
const below = (time: string): string => /\.\d{3}(\d+)/.exec(time)?.[1] ?? "";

/**
 * `next`, a time in milliseconds, with the microseconds of `previous` if both have the same second and millisecond.
 * Changing the day of a time then keeps its microseconds.
 */
export function withFinerDigits(next: string, previous: string): string {
  const [now, then] = [new Date(next), new Date(previous)];
  if (Number.isNaN(then.getTime()) || now.getTime() % 60_000 !== then.getTime() % 60_000) return next;
  const digits = below(previous);
  return digits === "" ? next : next.replace(/(\.\d{3})?Z$/, (_, part = ".000") => `${part}${digits}Z`);
}

/** The canonical form of a number: "1.50" and "15e-1" are "15e-1". */
function plainNumber(text: string): string {
  const [, sign = "", whole = "", part = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === "" ? "0" : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}

/** The canonical form of a time in any zone; undefined if the text is not a time. */
function plainTime(text: string): string | undefined {
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? new Date(text).getTime() : Number.NaN;
  if (Number.isNaN(time)) return undefined;
  return `${Math.floor(time / 1000)}.${(/\.(\d+)/.exec(text)?.[1] ?? "").replace(/0+$/, "")}`;
}

/**
 * Whether a sent value and a stored value are equal: the service returns times in UTC, and keeps the number 1 if 1.0 is
 * written.
 */
export function isStoredAs(sent: Json, kept: Json): boolean {
  if (isSame(sent, kept)) return true;
  if (isNumber(sent) && isNumber(kept)) return plainNumber(textOf(sent)) === plainNumber(textOf(kept));
  if (typeof sent !== "string" || typeof kept !== "string") return false;
  const time = plainTime(sent);
  return time !== undefined && time === plainTime(kept);
}
