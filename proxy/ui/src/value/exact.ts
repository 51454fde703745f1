/** Values as they are typed and as the service takes them, without a lossy step between. */
import { type ExactNumber, exact, isLosslessNumber, type Json } from "../api/json";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The exact number of a typed text; undefined if the text is not a number. Spaces and a plus sign are allowed. */
export function numberOf(text: string): ExactNumber | undefined {
  const plain = text
    .replace(/[\s\u00a0\u202f'’_]/g, "")
    .replace("\u2212", "-")
    .replace(/^\+/, "")
    .replace(/^(-?)0+(?=\d)/, "$1")
    .replace(/^(-?)\./, "$10.");
  return NUMBER.test(plain) ? exact(plain) : undefined;
}

/** A value as a text that can be edited, with every digit. */
export function textOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "";
  if (isLosslessNumber(value)) return value.toString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const isNumber = (it: Json | undefined) => typeof it === "number" || isLosslessNumber(it);

/** Whether two values are the same, digit by digit. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((it, place) => isSame(it, other[place]));
  }
  return isNumber(one) && isNumber(other) && textOf(one) === textOf(other);
}

/** The digits of a time below the millisecond, which the clock of a browser does not know: "123" of "…00.000123Z". */
const below = (time: string): string => /\.\d{3}(\d+)/.exec(time)?.[1] ?? "";

/**
 * `next`, a time to the millisecond, with the finer digits of `previous` where both have the same second and
 * millisecond: who changes the day of a time does not change its microseconds.
 */
export function withFinerDigits(next: string, previous: string): string {
  const [now, then] = [new Date(next), new Date(previous)];
  if (Number.isNaN(then.getTime()) || now.getTime() % 60_000 !== then.getTime() % 60_000) return next;
  const digits = below(previous);
  return digits === "" ? next : next.replace(/(\.\d{3})?Z$/, (_, part = ".000") => `${part}${digits}Z`);
}

/** A number in the one form that all its spellings have: "1.50" and "15e-1" are "15e-1". */
function plainNumber(text: string): string {
  const [, sign = "", whole = "", part = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === "" ? "0" : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}

/** A time in the one form that it has in all zones; undefined if the text is not a time. */
function plainTime(text: string): string | undefined {
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? new Date(text).getTime() : Number.NaN;
  if (Number.isNaN(time)) return undefined;
  return `${Math.floor(time / 1000)}.${(/\.(\d+)/.exec(text)?.[1] ?? "").replace(/0+$/, "")}`;
}

/**
 * Whether a value that was sent is kept as another: the service tells times in UTC, and leaves a number that is 1 as it is
 * where 1.0 is written.
 */
export function isKeptAs(sent: Json, kept: Json): boolean {
  if (isSame(sent, kept)) return true;
  if (isNumber(sent) && isNumber(kept)) return plainNumber(textOf(sent)) === plainNumber(textOf(kept));
  if (typeof sent !== "string" || typeof kept !== "string") return false;
  const time = plainTime(sent);
  return time !== undefined && time === plainTime(kept);
}
