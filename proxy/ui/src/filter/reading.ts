/** Single values as readers write them. */
import { isLosslessNumber, type Json, renderJson } from "../api/json";
import { words } from "../language";
import type { Kind } from "./operators";

/** The digits as they were sent, in groups of three where the reader groups them: 1234567.50 → 1,234,567.50 */
export function readNumber(text: string, locale?: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!parts) return text;
  const [, sign = "", whole = "", fraction] = parts;
  const format = new Intl.NumberFormat(locale);
  const point = format.formatToParts(1.5).find((it) => it.type === "decimal")?.value ?? ".";
  // Zeros behind the point say nothing here.
  const rest = fraction?.replace(/0+$/, "") ?? "";
  return `${sign}${format.format(BigInt(whole))}${rest === "" ? "" : point + rest}`;
}

const DAY: Intl.DateTimeFormatOptions = { day: "numeric", month: "long", year: "numeric" };
const MINUTE: Intl.DateTimeFormatOptions = { ...DAY, hour: "numeric", minute: "2-digit" };

/** 2024-05-01 → 1 May 2024, in the order of the reader; a moment in the reader's time zone. */
export function readDate(text: string, locale?: string): string {
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.test(text);
  const time = Date.parse(day ? `${text}T00:00:00Z` : text);
  if (Number.isNaN(time)) return text;
  return new Intl.DateTimeFormat(locale, day ? { ...DAY, timeZone: "UTC" } : MINUTE).format(time);
}

export function readValue(value: Json, kind: Kind | null, locale?: string): string {
  if (typeof value === "number" || isLosslessNumber(value)) return readNumber(String(value), locale);
  if (typeof value === "boolean")
    return value ? words.filter.yes.toLowerCase() : words.filter.no.toLowerCase();
  if (typeof value !== "string") return renderJson(value);
  if (kind === "date" || kind === "datetime") return readDate(value, locale);
  if (kind === "number") return readNumber(value, locale);
  if (kind === "boolean" && (value === "true" || value === "false"))
    return readValue(value === "true", kind, locale);
  return value;
}
