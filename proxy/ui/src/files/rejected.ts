/** The file of rejected rows: unchanged rows with the reason, to correct and import again. */
import type { Reading } from "./reading";
import type { RejectedRow, Rejection } from "./transfer";

const REASON = "import_error";

/** The errors grouped by row, in line order. */
export function byLine(errors: Rejection[]): Map<number, Rejection[]> {
  const lines = new Map<number, Rejection[]>();
  for (const error of errors) lines.set(error.line, [...(lines.get(error.line) ?? []), error]);
  return new Map([...lines].sort(([a], [b]) => a - b));
}

/** The number of errors per column, highest first. */
export function byColumn(errors: Rejection[]): [string | null, number][] {
  const columns = new Map<string | null, number>();
  for (const { column } of errors) columns.set(column, (columns.get(column) ?? 0) + 1);
  return [...columns].sort(([, a], [, b]) => b - a);
}

export const reason = (errors: Rejection[]) =>
  errors.map(({ column, message }) => (column === null ? message : `${column}: ${message}`)).join("; ");

/** The rejected rows as a file of the same format. */
export async function rejectedFile(reading: Reading, rows: RejectedRow[]): Promise<Blob> {
  if (reading.format === "ndjson") {
    const lines = rows.map(({ row, cells }) => `${(cells?.[0] ?? row).trimEnd()}\n`);
    return new Blob(lines, { type: "application/x-ndjson" });
  }
  const { default: Papa } = await import("papaparse");
  const { delimiter, header } = reading;
  const earlier = header.indexOf(REASON);
  const others = (cells: string[]) => cells.filter((_, at) => at !== earlier);
  const cellsOf = ({ row, cells }: RejectedRow) =>
    cells ?? Papa.parse<string[]>(row, { delimiter }).data[0] ?? [];
  const width = others(header).length;
  const padded = (row: string[]) => [...row, ...Array<string>(Math.max(0, width - row.length)).fill("")];
  const lineOf = (cells: string[]) => `${Papa.unparse([cells], { delimiter })}\n`;
  // A row with malformed quotes has no cells. It is saved unchanged, and rejected again until it is corrected.
  const raw = (row: RejectedRow) =>
    `${row.row || row.cells?.[0] || ""}${delimiter}"${reason(row.errors).replaceAll('"', '""')}"\n`;
  const lines = rows.map((row) =>
    row.errors.some(({ code }) => code === "invalid_csv")
      ? raw(row)
      : lineOf([...padded(others(cellsOf(row))), reason(row.errors)]),
  );
  return new Blob([lineOf([...others(header), REASON]), ...lines], { type: "text/csv;charset=utf-8" });
}

/** customers.csv → customers-rejected.csv */
export function rejectedName(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? `${name}-rejected` : `${name.slice(0, dot)}-rejected${name.slice(dot)}`;
}
