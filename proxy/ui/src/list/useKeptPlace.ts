import { type RefObject, useLayoutEffect, useRef } from "react";
import type { RecordBody } from "../api/queries";

/** This many rows are looked at for one that is still there. */
const NEAR = 200;

/** Where the row that was at `row` is now, or the next one that is still there; null if none is. */
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
 * Keeps what the reader sees and the row of the keyboard where they are when rows come or go above them. At the top of the
 * list, what is new is seen.
 * @param search of the records; null while those of another one are shown
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
