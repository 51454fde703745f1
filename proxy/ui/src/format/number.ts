/** Numbers as the reader writes them, with every digit. */
import type { ExactNumber } from "../api/json";

type Parts = { isNegative: boolean; whole: string; fraction: string };

/** A number with a greater exponent is shown as it was sent: written out, a few characters could fill the memory. */
const MOST_SHIFT = 1000;

/** The digits before and after the point, without an exponent; null if that is no way to read it. */
function parts(text: string): Parts | null {
  const match = /^([-+]?)(\d+)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/.exec(text);
  if (!match) return null;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const shift = Number(exponent);
  if (Math.abs(shift) > MOST_SHIFT) return null;
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

/** Digits of a fraction that stay even where they are zeros, as in 1.50. */
const KEPT_ZEROS = 2;

/**
 * A number in the reader's format. No digit is lost but zeros at the end of a long fraction: 4948.8100000000 is shown
 * as 4,948.81. What `exactText` gives belongs into the title.
 */
export function numberText(value: ExactNumber, locale?: string): string {
  const text = exactText(value);
  const split = parts(text);
  if (!split) return text;
  const { group, point, digits } = shape(locale);
  const significant = split.fraction.replace(/0+$/, "");
  const fraction =
    split.fraction.length > KEPT_ZEROS
      ? significant === ""
        ? ""
        : significant.padEnd(KEPT_ZEROS, "0")
      : split.fraction;
  const whole = group.format(BigInt(split.whole));
  const isZero = /^0*$/.test(split.whole + split.fraction);
  const sign = split.isNegative && !isZero ? "−" : "";
  if (fraction === "") return sign + whole;
  return sign + whole + point + [...fraction].map((digit) => digits[Number(digit)]).join("");
}

/** A number as it was sent. */
export const exactText = (value: ExactNumber): string => String(value);
