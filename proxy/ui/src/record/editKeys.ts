/** Keyboard handling of a value that is edited in place. */
import type { KeyboardEvent } from "react";

export type Pressed = "save" | "cancel" | "next" | "previous";

/** Whether an open list or calendar handles these keys first. Suggestions do so only while one is highlighted. */
const hasOpenPopup = (element: Element): boolean =>
  element.querySelector("[aria-expanded=true]:not([data-adds])") !== null;

/** The action of a key for the whole editor; undefined if the key has a meaning inside it. */
export function pressedIn(event: KeyboardEvent<HTMLElement>): Pressed | undefined {
  const target = event.target;
  const editor = event.currentTarget;
  if (event.nativeEvent.isComposing || event.altKey || !(target instanceof HTMLElement)) return undefined;
  // A calendar is rendered outside the editor, but React still propagates its key events to the editor.
  if (!editor.contains(target) || hasOpenPopup(editor)) {
    return event.key === "Tab" && editor.contains(target) ? onTab(event) : undefined;
  }
  if (target.matches("[data-adds][aria-activedescendant]") && event.key !== "Tab") return undefined;
  if (event.key === "Escape") return "cancel";
  if (event.key === "Tab") return target.matches("input, textarea") ? onTab(event) : undefined;
  if (event.key !== "Enter" || event.shiftKey || target.closest("button, a, [role=gridcell]"))
    return undefined;
  // Pending text of a list element is added first.
  return target.matches(ADDING) && pendingElement(editor) !== "" ? undefined : "save";
}

/** The input field of a list element. */
const ADDING = "input[data-adds=text]";

/** Text in an editor that is not an element of its list yet. */
export const pendingElement = (editor: Element | null): string =>
  editor?.querySelector<HTMLInputElement>(ADDING)?.value ?? "";

const onTab = (event: KeyboardEvent): Pressed => (event.shiftKey ? "previous" : "next");

/** Whether the focus is still in the editor or in one of its overlays. */
export function isFocusWithin(editor: Element): boolean {
  const focused = document.activeElement;
  if (!document.hasFocus()) return true;
  return (
    editor.contains(focused) ||
    (focused?.closest("[data-trigger], [role=dialog]:not([data-place])") ?? null) !== null
  );
}

/** Moves to the next or the previous field. */
export function editNext(row: Element, step: 1 | -1) {
  const rows = [...(row.closest("[data-fields]")?.querySelectorAll("[data-field]") ?? [])];
  const next = rows[rows.indexOf(row) + step];
  const target =
    next?.querySelector<HTMLElement>("[data-edit]") ?? next?.querySelector<HTMLElement>("input, textarea");
  setTimeout(() => {
    target?.focus();
    target?.click();
  });
}
