/** Fields whose list of suggestions is always open below them. */
import type { KeyboardEvent } from "react";

/** Tells screen readers of the open list. */
export const COMBOBOX = { role: "combobox", "aria-expanded": true, "aria-haspopup": "listbox" } as const;

/** A press of Enter in the field. */
export type EnterPress = {
  /** What is typed. */
  text: string;
  /** The key of the highlighted suggestion; null if there is none. It may be of an earlier text. */
  active: string | null;
};

/**
 * The press of Enter that an event is, taken from the list; null for other events. `Autocomplete` passes the press and the
 * release of Enter to the suggestion that is highlighted at each moment: where the list changes in between, as it does for
 * a user who types fast, nothing is chosen. So only the press decides. Call it in the capture phase.
 */
export function takeEnter(event: KeyboardEvent): EnterPress | null {
  const input = event.target;
  if (event.key !== "Enter" || !(input instanceof HTMLInputElement)) return null;
  if (event.isDefaultPrevented() || event.nativeEvent.isComposing) return null;
  event.preventDefault();
  event.stopPropagation();
  const id = input.getAttribute("aria-activedescendant");
  return { text: input.value, active: (id && document.getElementById(id)?.dataset.key) || null };
}
