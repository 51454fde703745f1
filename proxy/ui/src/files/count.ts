/** Counts rows in a file of any size. The file is streamed. */
import { eachRow, isBlank } from "./csvRows";

const NEWLINE = 0x0a;

/** A row count that continues across chunks of a file. */
export class RowCounter {
  private rest = new Uint8Array();
  private hasContent = false;
  rows = 0;

  /** The delimiter of CSV; null for NDJSON. */
  constructor(private readonly delimiter: string | null) {}

  add(bytes: Uint8Array) {
    if (this.delimiter === null) this.addLines(bytes);
    else this.addRows(bytes, this.delimiter, false);
  }

  /** All rows, including a last one without a line break. */
  end(): number {
    if (this.delimiter !== null) this.addRows(new Uint8Array(), this.delimiter, true);
    return this.rows + (this.hasContent ? 1 : 0);
  }

  private addRows(bytes: Uint8Array, delimiter: string, isEnd: boolean) {
    const all = new Uint8Array(this.rest.length + bytes.length);
    all.set(this.rest);
    all.set(bytes, this.rest.length);
    const { start } = eachRow(all, delimiter, isEnd, (row) => {
      if (!isBlank(all, row, delimiter)) this.rows++;
    });
    this.rest = all.slice(start);
  }

  private addLines(bytes: Uint8Array) {
    for (const byte of bytes) {
      if (byte === NEWLINE) {
        if (this.hasContent) this.rows++;
        this.hasContent = false;
      } else if (byte > 0x20) this.hasContent = true;
    }
  }
}

/** The number of rows below the header. `delimiter` is null for NDJSON. */
export async function countRows(file: File, delimiter: string | null, signal: AbortSignal): Promise<number> {
  const counter = new RowCounter(delimiter);
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) break;
    counter.add(value);
  }
  if (signal.aborted) await reader.cancel();
  return Math.max(0, counter.end() - (delimiter === null ? 0 : 1));
}
