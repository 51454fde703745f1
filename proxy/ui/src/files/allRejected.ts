/** All rejected rows of a file. The report contains only the first ones. */

import { slices } from "./slices";
import type { Options, RejectedRow } from "./transfer";
import { transfer } from "./transfer";

/** The response to a slice may be long. The slice must fit into the connection's buffers (see `transfer`). */
const SIZE = 128 << 10;

/**
 * Checks the file again slice by slice after its valid rows are imported, without writing anything.
 *
 * @throws Stopped, RequestError as `transfer` does.
 */
export async function allRejected(
  file: File,
  options: Options,
  progress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<RejectedRow[]> {
  const delimiter = options.contentType === "text/csv" ? (options.query.delimiter ?? ",") : null;
  const query = { ...options.query, dry_run: "true", on_error: "skip" };
  const found: RejectedRow[] = [];
  for await (const { blob, skipped, bytesDone } of slices(file, delimiter, SIZE)) {
    const rejected = (row: RejectedRow) => found.push({ ...row, line: row.line + skipped });
    await transfer(new File([blob], file.name), { ...options, query }, true, { rejected }, signal);
    progress(bytesDone);
  }
  return found;
}
