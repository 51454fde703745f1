/**
 * JSON whose numbers keep every digit.
 *
 * A number that a double cannot show as it was sent stays a `LosslessNumber`, whose text is the number as it was sent.
 */
import { isLosslessNumber, LosslessNumber, parse as parseLossless, stringify } from "lossless-json";

export { isLosslessNumber, LosslessNumber };

/** A number, exact: a double where its shortest text is the one that was sent. */
export type ExactNumber = number | LosslessNumber;

export type Json = null | boolean | string | ExactNumber | Json[] | { [member: string]: Json };

export function exact(text: string): ExactNumber {
  const double = Number(text);
  return String(double) === text ? double : new LosslessNumber(text);
}

/** @throws SyntaxError if the text is not JSON. */
export function parseJson(text: string): Json {
  return parseLossless(text, null, exact) as Json;
}

export function renderJson(value: unknown): string {
  return stringify(value) ?? "null";
}

/** The same over several lines, to be read. */
export function prettyJson(value: unknown): string {
  return stringify(value, null, 2) ?? "null";
}
