/** The `format` of a CSV import: how cells write values, as proposed and as edited by the user. */
import type { Schemas } from "../api/client";
import type { Attribute } from "../api/queries";

export type CellFormat = Schemas["FileFormat"];
/** Formats that match some columns. If there are several, the user chooses one. */
export type FormatChoice = Schemas["ImportPreview"]["choices"][number];

/** The formats detected from the cells of a file. */
export type Proposal = {
  format: CellFormat;
  /** Columns that match several formats, of which the user must choose one. */
  choices: FormatChoice[];
  /** Columns that match one format, which is part of the proposed one. */
  readings: FormatChoice[];
};

export const DECIMALS = [".", ",", "\u00b7", "\u066b"] as const;
export const THOUSANDS = ["", ".", ",", " ", "'"] as const;
export const SEPARATORS = [";", "|", ",", "/", "\n"] as const;
/** Likely date patterns of a file. The standard format of keyed is not among them. */
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

/** Adds a time zone if the cells have none: the user's, if the project has none. */
export function withZone(format: CellFormat, zone: string | undefined): CellFormat {
  if (format.datetime === undefined || format.time_zone !== undefined || zone === undefined) return format;
  return { ...format, time_zone: zone };
}

/** The format with changed members. Undefined members are removed. */
export function changed(format: CellFormat, members: Partial<Record<keyof CellFormat, unknown>>): CellFormat {
  const entries = Object.entries({ ...format, ...members }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as CellFormat;
}

/** The format with these decimal and thousands separators. The standard ones are left out. */
export function withMarks(format: CellFormat, decimal: string, thousands: string): CellFormat {
  const isPlain = decimal === "." && thousands === "";
  return changed(format, {
    decimal: isPlain ? undefined : decimal,
    thousands: thousands === "" || thousands === decimal ? undefined : thousands,
  });
}

/** The words in text such as `ja, x`. */
export function wordsOf(text: string): string[] | undefined {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

export const listOf = (words: string | string[] | undefined): string[] =>
  words === undefined ? [] : typeof words === "string" ? [words] : words;

/** Whether a format contains all members of a choice. */
export const has = (format: CellFormat, members: CellFormat): boolean =>
  Object.entries(members).every(
    ([name, value]) => JSON.stringify(format[name as keyof CellFormat]) === JSON.stringify(value),
  );

/** The choices that the user has not made yet. */
export const openChoices = ({ choices }: Pick<Proposal, "choices">, format: CellFormat): FormatChoice[] =>
  choices.filter(({ formats }) => !formats.some((it) => has(format, it.format)));

/** The members that affect cells of a type. */
const MEMBERS: Partial<Record<Attribute["type"], (keyof CellFormat)[]>> = {
  number: ["decimal", "thousands", "trailing_minus"],
  metric: ["decimal", "thousands", "trailing_minus"],
  date: ["date"],
  datetime: ["datetime"],
  boolean: ["true", "false"],
  list: ["list"],
};

/** Whether the format affects cells of the type, so that only the service can validate them. */
export const reads = (format: CellFormat, type: Attribute["type"]): boolean =>
  format.null !== undefined || Object.keys(membersOf(format, type)).length > 0;

/** The members of a format that affect a type. */
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
