/** Numbers in the user's locale, with every digit unless a format rounds them. */
import type { Schemas } from "../api/client";
import type { ExactNumber } from "../api/json";

/** The display format of an attribute. */
export type Format = Schemas["AttributeFormat"];

type Parts = { isNegative: boolean; whole: string; fraction: string };

/** A number with a greater exponent is shown as sent. Written out, a few characters could fill the memory. */
const MAX_SHIFT = 1000;

/**
 * The digits before and after the decimal point, shifted by `by` digits, without an exponent; null if the text cannot be
 * parsed.
 */
function parts(text: string, by = 0): Parts | null {
  const match = /^([-+]?)(\d+)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/.exec(text);
  if (!match) return null;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const shift = Number(exponent) + by;
  if (Math.abs(shift) > MAX_SHIFT) return null;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point < 0 ? digits.padStart(digits.length - point, "0") : digits.padEnd(point, "0");
  const at = Math.max(point, 0);
  return {
    isNegative: sign === "-",
    whole: padded.slice(0, at).replace(/^0+(?=\d)/, "") || "0",
    fraction: padded.slice(at),
  };
}

type Shape = { group: Intl.NumberFormat; point: string; digits: string[] };

const shapes = new Map<string, Shape>();

function shape(locale: string | undefined): Shape {
  const known = shapes.get(locale ?? "");
  if (known) return known;
  const group = new Intl.NumberFormat(locale);
  const ungrouped = new Intl.NumberFormat(locale, { useGrouping: false });
  const point = group.formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".";
  const made = { group, point, digits: Array.from({ length: 10 }, (_, digit) => ungrouped.format(digit)) };
  shapes.set(locale ?? "", made);
  return made;
}

/** Fraction digits that are kept even if they are zeros, as in 1.50. */
const KEPT_ZEROS = 2;

/** Whether a number looks like a year: whole, and from 1000 to 2999. */
const isYear = (value: unknown): boolean => /^[12]\d{3}$/.test(String(value));

/** The format of numbers that are shown together: without thousands separators if all look like years. */
export function formatOfAll(format: Format | undefined, values: readonly unknown[]): Format {
  const present = values.filter((value) => value !== null && value !== undefined);
  return { grouping: present.length === 0 || !present.every(isYear), ...format };
}

/** Rounds to this many fraction digits, half away from zero, as PostgreSQL does; pads with zeros. */
function rounded({ isNegative, whole, fraction }: Parts, decimals: number): Parts {
  if (fraction.length <= decimals) return { isNegative, whole, fraction: fraction.padEnd(decimals, "0") };
  const kept = BigInt(whole + fraction.slice(0, decimals)) + (Number(fraction[decimals]) >= 5 ? 1n : 0n);
  const digits = String(kept).padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return { isNegative, whole: digits.slice(0, point), fraction: digits.slice(point) };
}

/** The fraction digits without insignificant zeros. */
function shortened({ fraction }: Parts, least: number): string {
  if (fraction.length <= KEPT_ZEROS) return fraction.padEnd(least, "0");
  const significant = fraction.replace(/0+$/, "");
  return significant === "" ? "".padEnd(least, "0") : significant.padEnd(KEPT_ZEROS, "0");
}

/** The locale's text around a percentage or an amount of a currency. */
function around(options: Intl.NumberFormatOptions, locale: string | undefined) {
  const format = new Intl.NumberFormat(locale, options);
  const all = format.formatToParts(1);
  const isDigits = ({ type }: Intl.NumberFormatPart) => ["integer", "decimal", "fraction"].includes(type);
  const text = (them: Intl.NumberFormatPart[]) => them.map(({ value }) => value).join("");
  return {
    before: text(all.slice(0, all.findIndex(isDigits))),
    behind: text(all.slice(all.findLastIndex(isDigits) + 1)),
    /** The minimum number of fraction digits of a currency. */
    least: format.resolvedOptions().minimumFractionDigits ?? 0,
  };
}

const NO_AFFIXES = { before: "", behind: "", least: 0 };

function signs({ percent, currency, unit }: Format, locale: string | undefined) {
  if (percent) return around({ style: "percent" }, locale);
  // An incomplete currency code has no symbol.
  if (currency !== undefined && /^[A-Z]{3}$/.test(currency))
    return around({ style: "currency", currency }, locale);
  return !unit ? NO_AFFIXES : { ...NO_AFFIXES, behind: `\u00a0${unit}` };
}

/**
 * A number in the user's format. Without `decimals`, only trailing zeros of a long fraction are dropped:
 * 4948.8100000000 is shown as 4,948.81. The result of `exactText` belongs in the title.
 */
export function numberText(value: ExactNumber, format: Format = {}, locale?: string): string {
  const text = exactText(value);
  const split = parts(text, format.percent ? 2 : 0);
  if (!split) return text;
  const { decimals, grouping = !isYear(value) } = format;
  const { group, point, digits } = shape(locale);
  const { before, behind, least } = signs(format, locale);
  const shown = decimals === undefined ? split : rounded(split, decimals);
  const fraction = decimals === undefined ? shortened(split, least) : shown.fraction;
  const written = (plain: string) => [...plain].map((digit) => digits[Number(digit)]).join("");
  const whole = grouping ? group.format(BigInt(shown.whole)) : written(shown.whole);
  const isZero = /^0*$/.test(shown.whole + shown.fraction);
  const sign = shown.isNegative && !isZero ? "−" : "";
  return sign + before + whole + (fraction === "" ? "" : point + written(fraction)) + behind;
}

/** A number as sent. */
export const exactText = (value: ExactNumber): string => String(value);
