import { type RefObject, useLayoutEffect, useRef } from "react";
import type { RecordBody } from "../api/queries";

/** The number of rows to check for one that still exists. */
const NEAR = 200;

/** The new index of the row that was at `row`, or of the next one that still exists; null if there is none. */
export function placeNow(
  before: readonly { id: string }[],
  now: readonly { id: string }[],
  row: number,
): number | null {
  for (let at = row; at < Math.min(before.length, row + NEAR); at += 1) {
    const id = before[at]?.id;
    if (now[at]?.id === id) return row;
    const place = now.findIndex((it) => it.id === id);
    if (place >= 0) return place - (at - row);
  }
  return null;
}

/**
 * Keeps the visible rows and the active row in position when rows are added or removed above them. At the top of the
 * list, new rows become visible.
 * @param search of the records; null while those of another search are shown
 */
export function useKeptPlace(
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
      const place = placeNow(before.records, records, first);
      if (place !== null && place !== first) element.scrollTop += (place - first) * rowHeight;
    }
    const place = row < 0 ? null : placeNow(before.records, records, row);
    if (place !== null && place !== row) onRow(Math.max(place, 0));
  }, [records, search, scroller, rowHeight, row, onRow]);
}
