import { useMemo, useRef } from "react";
import type { RecordBody } from "../api/queries";
import { formatOfAll } from "../format/number";
import { columnValue, type ListColumn } from "./columns";
import { isUnloaded } from "./unloadedPages";

/** The columns with their number formats. All rows group thousands alike. */
export function useFormats(columns: readonly ListColumn[], records: readonly RecordBody[]): ListColumn[] {
  const groups = columns.map((column) => {
    if (!column.isNumber) return "";
    const values = records.map((record) => columnValue(record, column));
    return formatOfAll(column.attribute.format, values).grouping ? "grouped" : "plain";
  });
  const current = groups.join();
  // Unloading pages of a long list does not change the number formats.
  const last = useRef(current);
  if (!records.some(isUnloaded)) last.current = current;
  const key = columns.length === last.current.split(",").length ? last.current : current;
  return useMemo(() => {
    const all = key.split(",");
    return columns.map((column, index) => {
      if (!column.isNumber) return column;
      const format = { ...column.attribute.format, grouping: all[index] === "grouped" };
      return { ...column, attribute: { ...column.attribute, format } };
    });
  }, [columns, key]);
}
