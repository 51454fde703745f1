/** Dates and times in the user's locale, or in the pattern of an attribute. The exact value belongs in the title. */
import { inPattern } from "./pattern";

const DAY = 86_400_000;

/** The moment of a date such as 2024-05-01; null if it is outside the browser's calendar. */
function moment(text: string): Date | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions, locale: string | undefined): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(locale, options);
  formats.set(key, made);
  return made;
}

/** A date without a time: "2024-05-01" → "May 1, 2024". */
export function dateText(text: string, pattern?: string, locale?: string): string {
  const date = moment(text);
  if (date && pattern !== undefined) return inPattern(date, pattern, "UTC", locale);
  return date ? format({ dateStyle: "medium", timeZone: "UTC" }, locale).format(date) : text;
}

/** A moment in the user's time zone: "2024-05-01T12:00:00Z" → "May 1, 2024, 2:00 PM". */
export function datetimeText(text: string, pattern?: string, locale?: string, timeZone?: string): string {
  const date = moment(text);
  if (!date) return text;
  if (pattern !== undefined) return inPattern(date, pattern, timeZone, locale);
  const options: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "short" };
  return format(timeZone === undefined ? options : { ...options, timeZone }, locale).format(date);
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * DAY],
  ["month", 30 * DAY],
  ["week", 7 * DAY],
  ["day", DAY],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** Relative time: "10 seconds ago", "yesterday", "in 3 days". */
export function relativeText(text: string, now = Date.now(), locale?: string): string {
  const date = moment(text);
  if (!date) return text;
  const distance = date.getTime() - now;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(distance) >= size) ?? ["second", 1000];
  return new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(Math.trunc(distance / size), unit);
}
