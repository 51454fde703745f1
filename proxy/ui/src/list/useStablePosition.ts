import { type RefObject, useLayoutEffect, useRef } from "react";
import type { RecordBody } from "../api/queries";

/** The number of rows to check for one that still exists. */
const MAX_CHECKED_ROWS = 200;

/** The new index of the row that was at `row`, or of the next one that still exists; null if there is none. */
export function indexAfter(
  before: readonly { id: string }[],
  now: readonly { id: string }[],
  row: number,
): number | null {
  for (let at = row; at < Math.min(before.length, row + MAX_CHECKED_ROWS); at += 1) {
    const id = before[at]?.id;
    if (now[at]?.id === id) return row;
    const index = now.findIndex((it) => it.id === id);
    if (index >= 0) return index - (at - row);
  }
  return null;
}

/**
 * Keeps the visible rows and the active row in position when rows are added or removed above them. At the top of the
 * list, new rows become visible.
 * @param search of the records; null while those of another search are shown
 */
export function useStablePosition(
  scroller: RefObject<HTMLElement | null>,
  records: readonly RecordBody[],
  search: string | null,
  rowHeight: number,
  row: number,
  onRow: (row: number) => void,
) {
  const shown = useRef({ records, search });
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = { records, search };
    if (before.records === records || before.search !== search || search === null) return;
    const element = scroller.current;
    if (element && element.scrollTop > 0) {
      const first = Math.floor(element.scrollTop / rowHeight);
      const index = indexAfter(before.records, records, first);
      if (index !== null && index !== first) element.scrollTop += (index - first) * rowHeight;
    }
    const index = row < 0 ? null : indexAfter(before.records, records, row);
    if (index !== null && index !== row) onRow(Math.max(index, 0));
  }, [records, search, scroller, rowHeight, row, onRow]);
}
