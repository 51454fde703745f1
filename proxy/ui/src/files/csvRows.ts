/**
 * Where CSV rows begin and end, by the rules of the service: a cell is quoted if it begins with a quote. A row with
 * malformed quotes ends at its first line, so a stray quote does not swallow other rows.
 */

const QUOTE = 0x22;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** The maximum size of a row in bytes. */
const MAX_ROW = 4 << 20;

export type FoundRow = {
  start: number;
  /** The end of its text, and the position after its line break. */
  end: number;
  next: number;
  /** The line on which it begins, from 1. */
  line: number;
  isMalformed: boolean;
};

/** Where to resume: the first incomplete row, and its line. */
export type Rest = { start: number; line: number };

const isBreak = (byte: number | undefined) => byte === NEWLINE || byte === RETURN;

/**
 * Calls `found` for every complete row until it returns false. With `isEnd`, the input is complete, and the last row
 * needs no line break.
 */
export function eachRow(
  bytes: Uint8Array,
  delimiter: string,
  isEnd: boolean,
  // biome-ignore lint/suspicious/noConfusingVoidType: most callbacks return nothing.
  found: (row: FoundRow) => boolean | void,
): Rest {
  const scan = new Scan(bytes, delimiter.charCodeAt(0), isEnd);
  let start = 0;
  let line = 1;
  while (start < bytes.length) {
    const row = scan.rowAt(start);
    if (row === null) break;
    if (found({ start, line, end: row.end, next: row.next, isMalformed: row.isMalformed }) === false)
      return { start: row.next, line: line + row.lines };
    start = row.next;
    line += row.lines;
  }
  return { start, line };
}

type Ended = { end: number; next: number; lines: number; isMalformed: boolean };

class Scan {
  /** No quoted cell before this position continues on the next line: it would reach an error that was already found. */
  private singleUntil = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly delimiter: number,
    private readonly isEnd: boolean,
  ) {}

  /** The row that begins here; null if it is incomplete. */
  rowAt(start: number): Ended | null {
    const { bytes } = this;
    const { length } = bytes;
    // The first line break inside a quoted cell of the row, and the last one.
    let first = -1;
    let last = -1;
    let lines = 0;
    let isQuoted = false;
    let isCellStart = true;
    let isMalformed = false;
    let at = start;
    for (; at < length; at++) {
      const byte = bytes[at];
      if (isQuoted) {
        if (byte === QUOTE) {
          const after = bytes[at + 1];
          if (after === QUOTE) at++;
          else if (after === undefined || after === this.delimiter || isBreak(after)) isQuoted = false;
          else if (first !== -1) return this.firstLine(first, last);
          else {
            isQuoted = false;
            isMalformed = true;
          }
        } else if (isBreak(byte)) {
          if (at < this.singleUntil) return this.ended(at, lines, true);
          // The line feed of a CRLF is not a separate line break.
          if (byte === RETURN || bytes[at - 1] !== RETURN) lines++;
          if (first === -1) first = at;
          last = at;
        }
      } else if (isBreak(byte)) return this.ended(at, lines, isMalformed);
      else if (byte === this.delimiter) isCellStart = !isMalformed;
      else {
        isQuoted = byte === QUOTE && isCellStart && !isMalformed;
        isCellStart = false;
      }
    }
    if (!isQuoted) return this.isEnd ? { end: length, next: length, lines, isMalformed } : null;
    if (!this.isEnd && length - start <= MAX_ROW) return null;
    if (first !== -1) return this.firstLine(first, last);
    return this.isEnd ? { end: length, next: length, lines, isMalformed: true } : null;
  }

  private firstLine(first: number, last: number): Ended | null {
    this.singleUntil = Math.max(this.singleUntil, last + 1);
    return this.ended(first, 0, true);
  }

  /** A row that ends with this line break; null if the line feed of a CRLF may follow. */
  private ended(end: number, lines: number, isMalformed: boolean): Ended | null {
    const { bytes } = this;
    if (bytes[end] === RETURN && end + 1 === bytes.length && !this.isEnd) return null;
    const next = bytes[end] === RETURN && bytes[end + 1] === NEWLINE ? end + 2 : end + 1;
    return { end, next, lines: lines + 1, isMalformed };
  }
}

/** Whether every cell of a row is empty. These rows are ignored. */
export function isBlank(bytes: Uint8Array, { start, end }: FoundRow, delimiter: string): boolean {
  const text = String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 4096)));
  return text.split(delimiter).every((cell) => cell === "" || cell === '""');
}
