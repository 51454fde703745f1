import { save } from "../components/save";
import type { Reading } from "./reading";
import { byLine, rejectedFile, rejectedName } from "./rejected";
import { rowsAt } from "./rowsAt";
import type { RejectedRow, Rejection } from "./transfer";

/**
 * Saves the rejected rows of an import or a dry run: as returned by the service, or read from the file at the lines of
 * the report.
 */
export async function saveRejected(
  file: File,
  reading: Reading,
  errors: Rejection[],
  returned: RejectedRow[],
) {
  const rows = returned.length > 0 ? returned : await found(file, reading, errors);
  save(await rejectedFile(reading, rows), rejectedName(file.name));
}

async function found(file: File, reading: Reading, errors: Rejection[]): Promise<RejectedRow[]> {
  const lines = byLine(errors);
  const rows = await rowsAt(file, reading, lines);
  return [...lines].flatMap(([line, errors]) => {
    const row = rows.get(line);
    return row ? [{ line, row: "", cells: row.cells, errors }] : [];
  });
}
