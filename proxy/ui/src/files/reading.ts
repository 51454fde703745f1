/** What the browser detects in a file before sending it: format, header, first rows. */

import { eachRow, isBlank } from "./csvRows";
import type { Delimiter, Encoding } from "./encoding";
import { delimiterOf, encodingOf, withoutSepLine } from "./encoding";

/** The number of bytes read for the preview and the column samples. */
const PREFIX = 1 << 20;
const MAX_ROWS = 1000;

/** A row of a file, and the line on which it begins. */
export type Row = { line: number; cells: string[] };

export type Reading = {
  format: "csv" | "ndjson";
  encoding: Encoding;
  /** The part that was read is ASCII, which is valid in any encoding. */
  isAscii: boolean;
  delimiter: Delimiter;
  header: string[];
  /** The first rows. */
  rows: Row[];
  /** The number of rows; estimated if the file is longer than the part that was read. */
  rowCount: number;
  isEstimate: boolean;
};

/** The properties that the user has changed. */
export type Choices = { encoding?: Encoding; delimiter?: Delimiter };

const isNdjson = (file: File) => /\.(ndjson|jsonl|json)$/i.test(file.name) || file.type.includes("ndjson");

/** Reads the beginning of a file. */
export async function read(file: File, choices: Choices = {}): Promise<Reading> {
  const bytes = new Uint8Array(await file.slice(0, PREFIX).arrayBuffer());
  const isWhole = file.size <= PREFIX;
  const found = encodingOf(bytes);
  const encoding = choices.encoding ?? found ?? "utf-8";
  const text = whole(new TextDecoder(encoding).decode(bytes), isWhole);
  const base = { encoding, isAscii: found === null };
  const reading = isNdjson(file)
    ? { ...base, format: "ndjson" as const, delimiter: "," as const, ...readLines(text) }
    : { ...base, format: "csv" as const, ...(await readTable(text, choices.delimiter, isWhole)) };
  const share = isWhole ? 1 : file.size / bytes.length;
  return {
    ...reading,
    rows: reading.rows.slice(0, MAX_ROWS),
    rowCount: Math.round(reading.rowCount * share),
    isEstimate: !isWhole,
  };
}

/** Drops the last line, unless the text is that of the whole file. */
function whole(text: string, isWhole: boolean): string {
  const end = text.lastIndexOf("\n");
  return isWhole || end === -1 ? text : text.slice(0, end + 1);
}

async function readTable(text: string, given: Delimiter | undefined, isWhole: boolean) {
  const delimiter = given ?? delimiterOf(text);
  const { default: Papa } = await import("papaparse");
  const bytes = new TextEncoder().encode(withoutSepLine(text));
  const found: Row[] = [];
  let rowCount = -1;
  eachRow(bytes, delimiter, isWhole, (row) => {
    if (isBlank(bytes, row, delimiter)) return;
    rowCount++;
    if (rowCount > MAX_ROWS) return;
    const source = new TextDecoder().decode(bytes.subarray(row.start, row.end));
    // A row with malformed quotes has no cells.
    const cells = row.isMalformed ? [source] : Papa.parse<string[]>(source, { delimiter }).data[0];
    found.push({ line: row.line, cells: cells ?? [] });
  });
  const [first, ...rows] = found;
  return { delimiter, header: first?.cells ?? [], rows, rowCount: Math.max(0, rowCount) };
}

type Line = { external_key?: unknown; attributes?: unknown };

/** NDJSON as a table: the key, and a column for each attribute in the lines. */
function readLines(text: string): { header: string[]; rows: Row[]; rowCount: number } {
  const lines = text.split("\n").flatMap((source, index) => {
    if (source.trim() === "") return [];
    try {
      const value = JSON.parse(source) as Line | null;
      return [{ line: index + 1, source, value: typeof value === "object" ? value : null }];
    } catch {
      return [{ line: index + 1, source, value: null }];
    }
  });
  const attributes = lines.map(({ value }) => (value?.attributes ?? {}) as Record<string, unknown>);
  const names = [...new Set(attributes.slice(0, MAX_ROWS).flatMap((it) => Object.keys(it)))];
  const rows = lines.map(({ line, source, value }, index) => ({
    line,
    cells:
      value === null
        ? [source]
        : [shown(value.external_key), ...names.map((name) => shown(attributes[index]?.[name]))],
  }));
  return { header: ["external_key", ...names], rows, rowCount: rows.length };
}

const shown = (value: unknown) =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
