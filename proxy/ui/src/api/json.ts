/**
 * JSON in which numbers keep every digit.
 *
 * A number that a double cannot represent exactly stays a `LosslessNumber`, which holds the original text.
 */
import { isLosslessNumber, LosslessNumber, parse as parseLossless, stringify } from "lossless-json";

export { isLosslessNumber, LosslessNumber };

/** Parses a number exactly: as a double if its shortest text equals the original. */
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

/** The same, indented over several lines. */
export function prettyJson(value: unknown): string {
  return stringify(value, null, 2) ?? "null";
}
