import { type RefObject, useLayoutEffect, useState } from "react";

/** Whether an element is at least this many pixels wide. */
export function useIsWide(element: RefObject<HTMLElement | null>, width: number): boolean {
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    const look = () => setWide(current.clientWidth >= width);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element, width]);
  return isWide;
}
