/** Fields whose list of suggestions is always open below them. */
import type { KeyboardEvent } from "react";

/** Announces the open list to screen readers. */
export const COMBOBOX = { role: "combobox", "aria-expanded": true, "aria-haspopup": "listbox" } as const;

/** A press of Enter in the field. */
export type EnterPress = {
  /** The typed text. */
  text: string;
  /** The key of the highlighted suggestion; null if there is none. It may belong to an earlier text. */
  active: string | null;
};

/**
 * Reads an Enter keydown event from the list; null for other events. `Autocomplete` passes keydown and keyup of Enter
 * to the suggestion that is highlighted at each moment. If the list changes in between, as for fast typists, nothing
 * is chosen. So only the keydown decides. Call it in the capture phase.
 */
export function readEnterPress(event: KeyboardEvent): EnterPress | null {
  const input = event.target;
  if (event.key !== "Enter" || !(input instanceof HTMLInputElement)) return null;
  if (event.isDefaultPrevented() || event.nativeEvent.isComposing) return null;
  event.preventDefault();
  event.stopPropagation();
  const id = input.getAttribute("aria-activedescendant");
  return { text: input.value, active: (id && document.getElementById(id)?.dataset.key) || null };
}
