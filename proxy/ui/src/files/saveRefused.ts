import { save } from "../components/save";
import type { Reading } from "./reading";
import { byLine, refusedFile, refusedName } from "./refused";
import { rowsAt } from "./rowsAt";
import type { Refusal, RefusedRow } from "./transfer";

/**
 * Saves the refused rows of an import or a trial: as the service told them, or else as they are in the file at the
 * lines of the report.
 */
export async function saveRefused(file: File, reading: Reading, errors: Refusal[], told: RefusedRow[]) {
  const rows = told.length > 0 ? told : await found(file, reading, errors);
  save(await refusedFile(reading, rows), refusedName(file.name));
}

async function found(file: File, reading: Reading, errors: Refusal[]): Promise<RefusedRow[]> {
  const lines = byLine(errors);
  const rows = await rowsAt(file, reading, lines);
  return [...lines].flatMap(([line, errors]) => {
    const row = rows.get(line);
    return row ? [{ line, row: "", cells: row.cells, errors }] : [];
  });
}
