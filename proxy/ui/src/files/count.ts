/** Counts rows in a file of any size. The file is read as a stream. */
import type { Reading } from "./reading";

const QUOTE = 0x22;
const NEWLINE = 0x0a;

/** A count of rows that goes on from one piece of a file to the next. */
export class RowCounter {
  private isQuoted = false;
  private hasContent = false;
  rows = 0;

  constructor(private readonly hasQuotes: boolean) {}

  add(bytes: Uint8Array) {
    for (const byte of bytes) {
      if (byte === NEWLINE && !this.isQuoted) {
        if (this.hasContent) this.rows++;
        this.hasContent = false;
      } else {
        if (byte === QUOTE && this.hasQuotes) this.isQuoted = !this.isQuoted;
        if (byte > 0x20) this.hasContent = true;
      }
    }
  }

  /** All rows, the last one too if no line break ends it. */
  end(): number {
    return this.rows + (this.hasContent ? 1 : 0);
  }
}

/** How many rows a file has below its header. */
export async function countRows(file: File, format: Reading["format"], signal: AbortSignal): Promise<number> {
  const counter = new RowCounter(format === "csv");
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) break;
    counter.add(value);
  }
  if (signal.aborted) await reader.cancel();
  return Math.max(0, counter.end() - (format === "csv" ? 1 : 0));
}
