/** How CSV is written: for programs, or so that a spreadsheet opens it by double click. */
import type { ExportQuery } from "../api/export";
import { readerZone } from "../format/zone";
import type { Delimiter } from "./encoding";

export type Csv = { delimiter: Delimiter; decimal: "." | ","; hasMark: boolean; isLocal: boolean };

/** CSV as the service writes it by default. */
export const PLAIN: Csv = { delimiter: ",", decimal: ".", hasMark: false, isLocal: false };

/** CSV as the spreadsheet of a country takes it: where numbers have a comma, cells have a semicolon between them. */
export function forSpreadsheet(locale?: string): Csv {
  const mark = new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === "decimal")?.value;
  return mark === ","
    ? { delimiter: ";", decimal: ",", hasMark: true, isLocal: true }
    : { delimiter: ",", decimal: ".", hasMark: true, isLocal: true };
}

/** The parameters of the export that say so. */
export function csvQuery(csv: Csv, zone = readerZone()): ExportQuery {
  const { delimiter, decimal, hasMark, isLocal } = csv;
  const cells = {
    ...(decimal === "," && { decimal }),
    // No spreadsheet reads a time with an offset.
    ...(isLocal && zone !== undefined && { datetime: "YYYY-MM-DD HH:mm:ss", time_zone: zone }),
  };
  return {
    format: Object.keys(cells).length > 0 ? JSON.stringify(cells) : "csv",
    ...(delimiter !== "," && { delimiter }),
    ...(hasMark && { bom: "true" as const }),
  };
}
