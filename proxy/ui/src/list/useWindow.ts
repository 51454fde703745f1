import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from "react";

/** Rows above and below the visible ones that are rendered as well. */
const SPARE = 12;
/** The window moves by so many rows at once, so that most scroll events render nothing. */
const STEP = 6;

/** The rows that are rendered, and those that are seen. Both without the last. */
export type RowWindow = { from: number; to: number; firstSeen: number; lastSeen: number };

export function windowAt(top: number, height: number, rowHeight: number, rows: number): RowWindow {
  const firstSeen = Math.min(Math.floor(top / rowHeight), Math.max(rows - 1, 0));
  const lastSeen = Math.min(Math.ceil((top + height) / rowHeight), rows);
  const from = Math.max(0, Math.floor((firstSeen - SPARE) / STEP) * STEP);
  const to = Math.min(rows, Math.ceil((lastSeen + SPARE) / STEP) * STEP);
  return { from, to, firstSeen, lastSeen };
}

/** The part of the rows that a scrolled element shows, below a head of `headHeight`. */
export function useWindow(
  scroller: RefObject<HTMLElement | null>,
  rows: number,
  rowHeight: number,
  headHeight: number,
): RowWindow {
  const measure = useCallback(() => {
    const element = scroller.current;
    const height = (element?.clientHeight ?? 800) - headHeight;
    return windowAt(element?.scrollTop ?? 0, Math.max(height, 0), rowHeight, rows);
  }, [scroller, rows, rowHeight, headHeight]);
  const [shown, setShown] = useState<RowWindow>(measure);

  const update = useCallback(() => {
    const next = measure();
    setShown((current) =>
      (Object.keys(next) as (keyof RowWindow)[]).every((part) => next[part] === current[part])
        ? current
        : next,
    );
  }, [measure]);

  useLayoutEffect(update, [update]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    element.addEventListener("scroll", update, { passive: true });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", update);
      observer.disconnect();
    };
  }, [scroller, update]);
  return shown;
}
