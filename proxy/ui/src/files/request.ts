/** The parameters of an import, from the user's choices. */
import type { CellFormat } from "./cellFormat";
import { KEY, type Matching, mappingOf, matchOf, type Target } from "./columns";
import type { Reading } from "./reading";
import type { Options } from "./transfer";

export type Plan = {
  project: string;
  template: string;
  reading: Reading;
  targets: Target[];
  matching: Matching;
  prefix: string;
  /** The cell format of a CSV file. */
  cells: CellFormat;
};

/** Options of the transfer. `isTrial` is a dry run; `isWhole` imports nothing if a row is rejected. */
export function optionsOf(plan: Plan, isTrial: boolean, isWhole: boolean): Options {
  const { project, template, reading, targets, matching, prefix, cells } = plan;
  const query: Record<string, string> = { on_error: isWhole ? "abort" : "skip" };
  if (isTrial) query.dry_run = "true";
  if (prefix !== "") query.key_prefix = prefix;
  const match = matchOf(targets, matching);
  if (match) query.match = JSON.stringify(match);
  if (reading.format === "ndjson") return { project, template, contentType: "application/x-ndjson", query };
  query.mapping = JSON.stringify(mappingOf(reading.header, targets));
  query.delimiter = reading.delimiter;
  if (Object.keys(cells).length > 0) query.format = JSON.stringify(cells);
  // If the part that was read is ASCII, the service detects the encoding at the first other character.
  if (!reading.isAscii) query.encoding = reading.encoding;
  const column = reading.header[targets.indexOf(KEY)];
  if (column !== undefined) query.key_column = column;
  return { project, template, contentType: "text/csv", query };
}
