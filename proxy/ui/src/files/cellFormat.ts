/** How a CSV file writes values: the `format` of an import, as it is proposed and as the reader of the page changes it. */
import type { Schemas } from "../api/client";
import type { Attribute } from "../api/queries";

export type CellFormat = Schemas["FileFormat"];
/** Formats that fit some columns; of several, one is meant. */
export type FormatChoice = Schemas["ImportPreview"]["choices"][number];

/** What the cells of a file show of its format. */
export type Proposal = {
  format: CellFormat;
  /** Where several formats fit, of which one must be chosen. */
  choices: FormatChoice[];
  /** Where one format fits, which is part of the proposed one. */
  readings: FormatChoice[];
};

export const DECIMALS = [".", ",", "\u00b7", "\u066b"] as const;
export const THOUSANDS = ["", ".", ",", " ", "'"] as const;
export const SEPARATORS = [";", "|", ",", "/", "\n"] as const;
/** The patterns of dates that a file is likely to have; none is that of keyed itself. */
export const DATES = [
  "",
  "DD.MM.YYYY",
  "D.M.YYYY",
  "DD/MM/YYYY",
  "D/M/YYYY",
  "MM/DD/YYYY",
  "M/D/YYYY",
  "DD-MM-YYYY",
  "YYYY/MM/DD",
  "YYYY.MM.DD",
  "YYYYMMDD",
] as const;

/** With a time zone, which the cells do not show: that of the reader, if the project has none. */
export function withZone(format: CellFormat, zone: string | undefined): CellFormat {
  if (format.datetime === undefined || format.time_zone !== undefined || zone === undefined) return format;
  return { ...format, time_zone: zone };
}

/** A format with other members; those that are undefined are left out. */
export function changed(format: CellFormat, members: Partial<Record<keyof CellFormat, unknown>>): CellFormat {
  const entries = Object.entries({ ...format, ...members }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as CellFormat;
}

/** With these marks of numbers: without both where they are those of keyed itself. */
export function withMarks(format: CellFormat, decimal: string, thousands: string): CellFormat {
  const isPlain = decimal === "." && thousands === "";
  return changed(format, {
    decimal: isPlain ? undefined : decimal,
    thousands: thousands === "" || thousands === decimal ? undefined : thousands,
  });
}

/** The words of a field such as `ja, x`. */
export function wordsOf(text: string): string[] | undefined {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

export const listOf = (words: string | string[] | undefined): string[] =>
  words === undefined ? [] : typeof words === "string" ? [words] : words;

/** Whether a format has what a choice says. */
export const has = (format: CellFormat, members: CellFormat): boolean =>
  Object.entries(members).every(
    ([name, value]) => JSON.stringify(format[name as keyof CellFormat]) === JSON.stringify(value),
  );

/** The choices that are still open. */
export const openChoices = ({ choices }: Pick<Proposal, "choices">, format: CellFormat): FormatChoice[] =>
  choices.filter(({ formats }) => !formats.some((it) => has(format, it.format)));

/** The members that say how the cells of a type are read. */
const MEMBERS: Partial<Record<Attribute["type"], (keyof CellFormat)[]>> = {
  number: ["decimal", "thousands", "trailing_minus"],
  metric: ["decimal", "thousands", "trailing_minus"],
  date: ["date"],
  datetime: ["datetime"],
  boolean: ["true", "false"],
  list: ["list"],
};

/** Whether the cells of a type are read by the format, so that only the service can say whether they fit. */
export const reads = (format: CellFormat, type: Attribute["type"]): boolean =>
  format.null !== undefined || Object.keys(membersOf(format, type)).length > 0;

/** What a format says of a type. */
export function membersOf(format: CellFormat, type: Attribute["type"]): CellFormat {
  const names = (MEMBERS[type] ?? []).filter((name) => format[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, format[name]]));
}

/** 29.02.2024 for DD.MM.YYYY */
export const dateExample = (pattern: string): string =>
  pattern
    .replace("YYYY", "2024")
    .replace(/DD?/, "29")
    .replace("MM", "02")
    .replace(/M(?!M)/, "2");
