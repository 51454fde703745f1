/** The CSV dialect of an export: for programs, or for opening in a spreadsheet with a double-click. */
import type { ExportQuery } from "../api/export";
import { readerZone } from "../format/zone";
import type { Delimiter } from "./encoding";

export type Csv = { delimiter: Delimiter; decimal: "." | ","; hasMark: boolean; isLocal: boolean };

/** The default CSV dialect of the service. */
export const PLAIN: Csv = { delimiter: ",", decimal: ".", hasMark: false, isLocal: false };

/** The CSV dialect of spreadsheets in a locale: if numbers have a decimal comma, cells are separated by semicolons. */
export function forSpreadsheet(locale?: string): Csv {
  const mark = new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === "decimal")?.value;
  return mark === ","
    ? { delimiter: ";", decimal: ",", hasMark: true, isLocal: true }
    : { delimiter: ",", decimal: ".", hasMark: true, isLocal: true };
}

/** The export parameters for a dialect. */
export function csvQuery(csv: Csv, zone = readerZone()): ExportQuery {
  const { delimiter, decimal, hasMark, isLocal } = csv;
  const cells = {
    ...(decimal === "," && { decimal }),
    // Spreadsheets cannot parse times with an offset.
    ...(isLocal && zone !== undefined && { datetime: "YYYY-MM-DD HH:mm:ss", time_zone: zone }),
  };
  return {
    format: Object.keys(cells).length > 0 ? JSON.stringify(cells) : "csv",
    ...(delimiter !== "," && { delimiter }),
    ...(hasMark && { bom: "true" as const }),
  };
}
