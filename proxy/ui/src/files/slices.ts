/** Cuts a file into pieces of whole rows, each of which can be sent alone. */

const QUOTE = 0x22;
const NEWLINE = 0x0a;

/** Where the last row that is complete ends, and how many line breaks come before; `end` is 0 if there is none. */
export function lastRowEnd(bytes: Uint8Array, hasQuotes: boolean): { end: number; lines: number } {
  let isQuoted = false;
  let breaks = 0;
  let found = { end: 0, lines: 0 };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE && hasQuotes) isQuoted = !isQuoted;
    if (byte !== NEWLINE) continue;
    breaks++;
    if (!isQuoted) found = { end: at + 1, lines: breaks };
  }
  return found;
}

/** Where the first row ends, or the bytes. */
function firstRowEnd(bytes: Uint8Array): number {
  let isQuoted = false;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) isQuoted = !isQuoted;
    if (bytes[at] === NEWLINE && !isQuoted) return at + 1;
  }
  return bytes.length;
}

/** A piece with the header before it; `skipped` lines of the file are not in it. */
export type Slice = { blob: Blob; skipped: number; bytesDone: number };

/** The pieces of a file. A row that is longer than `size` makes a piece of its own. */
export async function* slices(file: Blob, isCsv: boolean, size: number): AsyncGenerator<Slice> {
  const bytesAt = async (from: number, to: number) =>
    new Uint8Array(await file.slice(from, to).arrayBuffer());
  const headerEnd = isCsv ? firstRowEnd(await bytesAt(0, size)) : 0;
  const header = file.slice(0, headerEnd);
  let from = headerEnd;
  let skipped = 0;
  for (let length = size; from < file.size; ) {
    const bytes = await bytesAt(from, from + length);
    const isLast = from + bytes.length === file.size;
    const { end, lines } = isLast ? { end: bytes.length, lines: 0 } : lastRowEnd(bytes, isCsv);
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
