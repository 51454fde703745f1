/** Finds rows by line number in a file of any size. The file is streamed. */
import type { Reading, Row } from "./reading";
import type { Rejection } from "./transfer";

/** The lines of a file, one after another. */
async function* linesOf(file: Blob, encoding: string, end: RegExp): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  const reader = file.stream().getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      // The line feed of a CRLF may follow.
      const held = !done && rest.endsWith("\r") ? 1 : 0;
      const lines = rest.slice(0, rest.length - held).split(end);
      rest = (lines.pop() ?? "") + rest.slice(rest.length - held);
      yield* lines;
      if (done) break;
    }
    yield rest;
  } finally {
    await reader.cancel();
  }
}

/** Whether a quoted cell of a row continues on the next line. */
export function isOpen(row: string, delimiter: string): boolean {
  let at = 0;
  for (;;) {
    if (row[at] === '"') {
      for (at++; ; at += 2) {
        at = row.indexOf('"', at);
        if (at === -1) return true;
        if (row[at + 1] !== '"') break;
      }
    }
    at = row.indexOf(delimiter, at);
    if (at === -1) return false;
    at += delimiter.length;
  }
}

/**
 * The rows with these errors. A row with malformed quotes is one line with one cell, because its cell boundaries are
 * unknown.
 */
export async function rowsAt(
  file: Blob,
  reading: Pick<Reading, "format" | "delimiter" | "encoding">,
  errors: Map<number, Rejection[]>,
): Promise<Map<number, Row>> {
  const found = new Map<number, Row>();
  if (errors.size === 0) return found;
  const last = Math.max(...errors.keys());
  const isCsv = reading.format === "csv";
  const { default: Papa } = await import("papaparse");
  let line = 0;
  let open: { line: number; text: string }[] = [];
  for await (const text of linesOf(file, reading.encoding, isCsv ? /\r\n|\n|\r/ : /\n/)) {
    line++;
    for (const row of open) row.text += `\n${text}`;
    const rowErrors = errors.get(line);
    if (rowErrors?.some(({ code }) => code === "invalid_csv") || (rowErrors && !isCsv))
      found.set(line, { line, cells: [text] });
    else if (rowErrors) open.push({ line, text });
    const ended = open.filter(({ text }) => !isOpen(text, reading.delimiter));
    for (const { line, text } of ended) {
      const { data } = Papa.parse<string[]>(text, { delimiter: reading.delimiter });
      found.set(line, { line, cells: data[0] ?? [] });
    }
    open = open.filter((row) => !ended.includes(row));
    if (line >= last && open.length === 0) break;
  }
  return found;
}
