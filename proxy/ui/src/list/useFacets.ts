import { useCallback, useState } from "react";

const FACETS = "keyed.facets";

/** Whether the facet panel is open, remembered by this browser. */
export function useFacets(): [boolean, () => void] {
  const [isOpen, setOpen] = useState(
    // On a narrow screen, the panel would cover the records.
    () => localStorage.getItem(FACETS) === "yes" && !window.matchMedia("(max-width: 720px)").matches,
  );
  const toggle = useCallback(() => {
    localStorage.setItem(FACETS, isOpen ? "no" : "yes");
    setOpen(!isOpen);
  }, [isOpen]);
  return [isOpen, toggle];
}
