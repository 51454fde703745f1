import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** The number of extra rows that are rendered above and below the visible ones. */
const EXTRA = 12;
/** The window moves in steps of this many rows, so that most scroll events render nothing. */
const STEP = 6;

/** The rendered and the visible rows, as half-open ranges. */
export type RowWindow = { from: number; to: number; firstSeen: number; lastSeen: number };

export function windowAt(
  top: number,
  height: number,
  rowHeight: number,
  rows: number,
  extra = EXTRA,
): RowWindow {
  const last = Math.max(rows - 1, 0);
  const first = Math.min(Math.floor(top / rowHeight), last);
  const end = Math.min(Math.ceil((top + height) / rowHeight), rows);
  const from = Math.max(0, Math.floor((first - extra) / STEP) * STEP);
  const to = Math.min(rows, Math.ceil((end + extra) / STEP) * STEP);
  // A row counts as visible if at least half of it is.
  const firstSeen = Math.min(Math.round(top / rowHeight), last);
  const lastSeen = Math.min(Math.max(Math.round((top + height) / rowHeight), firstSeen), rows);
  return { from, to, firstSeen, lastSeen };
}

const isSame = (a: RowWindow, b: RowWindow) =>
  a.from === b.from && a.to === b.to && a.firstSeen === b.firstSeen && a.lastSeen === b.lastSeen;

/**
 * The window of rows that a scrolled element shows, below a head of `headHeight`, and a function that scrolls it to its
 * top. While rows change quickly, no extra rows are rendered until the element is scrolled.
 */
export function useWindow(
  scroller: RefObject<HTMLElement | null>,
  rows: number,
  rowHeight: number,
  headHeight: number,
  areQuick: boolean,
): [RowWindow, () => void] {
  // Cached, because reading it after new rows were added makes the browser compute their layout twice.
  const [view, setView] = useState(() => ({ top: 0, height: window.innerHeight }));
  const at = useCallback(
    ({ top, height }: typeof view) =>
      windowAt(top, Math.max(height - headHeight, 0), rowHeight, rows, areQuick && top === 0 ? 0 : EXTRA),
    [rows, rowHeight, headHeight, areQuick],
  );
  const current = useRef({ top: 0, at });
  current.current.at = at;

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const move = (change: Partial<typeof view>) =>
      setView((before) => {
        const after = { ...before, ...change };
        return isSame(current.current.at(before), current.current.at(after)) ? before : after;
      });
    const scroll = () => {
      current.current.top = element.scrollTop;
      move({ top: element.scrollTop });
    };
    const observer = new ResizeObserver(() => move({ height: element.clientHeight }));
    element.addEventListener("scroll", scroll, { passive: true });
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", scroll);
      observer.disconnect();
    };
  }, [scroller]);

  const toTop = useCallback(() => {
    if (!scroller.current || current.current.top === 0) return;
    scroller.current.scrollTop = 0;
    current.current.top = 0;
    setView((before) => ({ ...before, top: 0 }));
  }, [scroller]);
  return [at(view), toTop];
}
