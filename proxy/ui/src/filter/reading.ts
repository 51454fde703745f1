/** Single values in the user's locale. */
import { isLosslessNumber, type Json, renderJson } from "../api/json";
import { dateText, datetimeText } from "../format/date";
import { type Format, numberText } from "../format/number";
import { messages } from "../language";
import { numberOf } from "../value/exact";
import type { Kind } from "./operators";

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A value in the user's format. A condition may contain any value as text, such as "5" for a number. */
export function readValue(value: Json, kind: Kind | null, locale?: string, format?: Format): string {
  if (typeof value === "number" || isLosslessNumber(value)) return numberText(value, format, locale);
  if (typeof value === "boolean") return value ? messages.filter.sentence.yes : messages.filter.sentence.no;
  if (typeof value !== "string") return renderJson(value);
  if (kind === "date" || kind === "datetime")
    return DAY.test(value)
      ? dateText(value, kind === "date" ? format?.pattern : undefined, locale)
      : datetimeText(value, format?.pattern, locale);
  const number = kind === "number" ? numberOf(value) : undefined;
  if (number !== undefined) return numberText(number, format, locale);
  if (kind === "boolean" && (value === "true" || value === "false"))
    return readValue(value === "true", kind, locale);
  return value;
}
