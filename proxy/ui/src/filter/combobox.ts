/** A field whose list of suggestions is always open below it, for screen readers. */
export const COMBOBOX = { role: "combobox", "aria-expanded": true, "aria-haspopup": "listbox" } as const;

/** The key of the suggestion that Enter would take; null if there is none. */
export function activeKey(input: Element): string | null {
  const id = input.getAttribute("aria-activedescendant");
  return (id && document.getElementById(id)?.dataset.key) || null;
}
