/** A field whose list of suggestions is always open below it, for screen readers. */
export const COMBOBOX = { role: "combobox", "aria-expanded": true, "aria-haspopup": "listbox" } as const;
