/** Values as plain text, for titles, sentences and screen readers. */
import type { Schemas } from "../api/client";
import { type ExactNumber, isLosslessNumber, renderJson } from "../api/json";
import type { Attribute } from "../api/queries";
import { dateText, datetimeText } from "../format/date";
import { optionLabel } from "../format/label";
import { numberText } from "../format/number";
import { messages } from "../language";

export type VerboseValue = Schemas["VerboseValue"];

/** Whether a value is empty. Empty text and empty lists are. */
export function isEmptyValue(value: unknown): boolean {
  return (
    value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

export const isNumber = (value: unknown): value is ExactNumber =>
  typeof value === "number" || isLosslessNumber(value);

/** The elements of a list with their labels. */
export function listLabels(attribute: Pick<Attribute, "options">, value: unknown): string[] {
  const elements = Array.isArray(value) ? value : isEmptyValue(value) ? [] : [value];
  return elements.map((element) => optionLabel(attribute, String(element)));
}

/** The name of the referenced record; null if it is not visible to the user. */
export function referenceLabel(verbose: VerboseValue | undefined): string | null {
  return verbose?.display || verbose?.external_key || null;
}

/** A value in the user's format; empty for an empty value. */
export function valueText(
  attribute: Pick<Attribute, "type" | "options" | "format">,
  value: unknown,
  verbose?: VerboseValue,
): string {
  const { format } = attribute;
  if (isEmptyValue(value)) return "";
  switch (attribute.type) {
    case "number":
    case "metric":
      return isNumber(value) ? numberText(value, format) : String(value);
    case "date":
      return dateText(String(value), format?.pattern);
    case "datetime":
      return datetimeText(String(value), format?.pattern);
    case "boolean":
      return value === true ? messages.value.yes : messages.value.no;
    case "list":
      return listLabels(attribute, value).join(", ");
    case "reference":
      return referenceLabel(verbose) ?? (typeof value === "string" ? value : messages.value.hidden);
    default:
      return typeof value === "string" ? value : renderJson(value);
  }
}

/** The stored value, for the title of an abbreviated one. */
export function exactValueText(value: unknown): string {
  if (isEmptyValue(value)) return "";
  return typeof value === "object" && !isLosslessNumber(value) ? renderJson(value) : String(value);
}

/** The value to copy: without thousands separators and units, so that other programs can parse it. */
export function copiedText(
  attribute: Pick<Attribute, "type" | "options">,
  value: unknown,
  verbose?: VerboseValue,
): string {
  return ["number", "metric", "date", "datetime"].includes(attribute.type)
    ? exactValueText(value)
    : valueText(attribute, value, verbose);
}

/** The URL of text that is a link; null unless it is a web or mail address. */
export function linkOf({ format }: Pick<Attribute, "format">, value: string): string | null {
  const text = value.trim();
  if (format?.kind === "email") return /^[^\s@:/?]+@[^\s@:/?]+$/.test(text) ? `mailto:${text}` : null;
  if (format?.kind !== "link" && format?.kind !== "image") return null;
  return /^https?:\/\/[^\s]+$/i.test(text) ? text : null;
}
