/** Cuts a file into slices of whole rows that can be sent separately. */
import { eachRow, isBlank } from "./csvRows";
import { isSepLine } from "./encoding";

const NEWLINE = 0x0a;

/** The delimiter of a CSV file; null for NDJSON. */
type Delimiter = string | null;

/** Where the last complete row ends, and the number of lines before it; `end` is 0 if there is none. */
function lastRowEnd(bytes: Uint8Array, delimiter: Delimiter): { end: number; lines: number } {
  if (delimiter !== null) {
    const { start, line } = eachRow(bytes, delimiter, false, () => {});
    return { end: start, lines: line - 1 };
  }
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return { end, lines: bytes.subarray(0, end).reduce((sum, byte) => sum + (byte === NEWLINE ? 1 : 0), 0) };
}

/** Where the header row ends, or the input. A line that names the delimiter, and empty lines, come before it. */
function headerEnd(bytes: Uint8Array, delimiter: string, isEnd: boolean): number {
  let end = bytes.length;
  eachRow(bytes, delimiter, isEnd, (row) => {
    const text = new TextDecoder().decode(bytes.subarray(row.start, row.end));
    if (isBlank(bytes, row, delimiter) || isSepLine(text)) return true;
    end = row.next;
    return false;
  });
  return end;
}

/** A slice that begins with the header; `skipped` is the number of lines of the file before its first row. */
export type Slice = { blob: Blob; skipped: number; bytesDone: number };

/** The slices of a file. A row longer than `size` becomes a separate slice. */
export async function* slices(file: Blob, delimiter: Delimiter, size: number): AsyncGenerator<Slice> {
  const bytesAt = async (from: number, to: number) =>
    new Uint8Array(await file.slice(from, to).arrayBuffer());
  let from = 0;
  if (delimiter !== null) {
    // The longest row that the service accepts.
    const beginning = await bytesAt(0, Math.max(size, 4 << 20));
    from = headerEnd(beginning, delimiter, beginning.length === file.size);
  }
  const header = file.slice(0, from);
  let skipped = 0;
  for (let length = size; from < file.size; ) {
    const bytes = await bytesAt(from, from + length);
    const isLast = from + bytes.length === file.size;
    const { end, lines } = isLast ? { end: bytes.length, lines: 0 } : lastRowEnd(bytes, delimiter);
    if (end === 0) {
      length *= 2;
      continue;
    }
    yield { blob: new Blob([header, bytes.subarray(0, end)]), skipped, bytesDone: from + end };
    from += end;
    skipped += lines;
    length = size;
  }
}
