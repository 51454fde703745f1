import { useEffect, useState } from "react";

function rowHeight(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 32;
}

/** The height of a row in pixels, which depends on the density that the user chose. */
export function useRowHeight(): number {
  const [height, setHeight] = useState(rowHeight);
  useEffect(() => {
    const observer = new MutationObserver(() => setHeight(rowHeight()));
    observer.observe(document.documentElement, { attributeFilter: ["data-density"] });
    return () => observer.disconnect();
  }, []);
  return height;
}
