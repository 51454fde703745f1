/** All refused rows of a file of which the report names only the first. */

import { slices } from "./slices";
import type { Options, RefusedRow } from "./transfer";
import { transfer } from "./transfer";

/** The answer to a piece may be long: the piece must fit into the buffers of the connection (see `transfer`). */
const SIZE = 128 << 10;

/**
 * Tries the file again piece by piece, after all its good rows are imported, and writes nothing.
 *
 * @throws Stopped, RequestError as `transfer` does.
 */
export async function allRefused(
  file: File,
  options: Options,
  progress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<RefusedRow[]> {
  const delimiter = options.contentType === "text/csv" ? (options.query.delimiter ?? ",") : null;
  const query = { ...options.query, dry_run: "true", on_error: "skip" };
  const found: RefusedRow[] = [];
  for await (const { blob, skipped, bytesDone } of slices(file, delimiter, SIZE)) {
    const refused = (row: RefusedRow) => found.push({ ...row, line: row.line + skipped });
    await transfer(new File([blob], file.name), { ...options, query }, true, { refused }, signal);
    progress(bytesDone);
  }
  return found;
}
