import { useEffect, useState } from "react";

function rowHeight(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 32;
}

/** The height of a row in pixels, which follows the density that the reader chose. */
export function useRowHeight(): number {
  const [height, setHeight] = useState(rowHeight);
  useEffect(() => {
    const observer = new MutationObserver(() => setHeight(rowHeight()));
    observer.observe(document.documentElement, { attributeFilter: ["data-density"] });
    return () => observer.disconnect();
  }, []);
  return height;
}
