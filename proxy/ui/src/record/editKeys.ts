/** The keys of a value that is edited in place. */
import type { KeyboardEvent } from "react";

export type Pressed = "save" | "giveBack" | "next" | "previous";

/** Whether a list of choices or a calendar is open, which takes these keys first. Suggestions do so once one is chosen. */
const hasOpenPopup = (element: Element): boolean =>
  element.querySelector("[aria-expanded=true]:not([data-adds])") !== null;

/** What a key means to the editor as a whole; undefined if it means something inside of it. */
export function pressedIn(event: KeyboardEvent<HTMLElement>): Pressed | undefined {
  const target = event.target;
  const editor = event.currentTarget;
  if (event.nativeEvent.isComposing || event.altKey || !(target instanceof HTMLElement)) return undefined;
  // A calendar is shown outside of the editor, and React still tells the editor of its keys.
  if (!editor.contains(target) || hasOpenPopup(editor)) {
    return event.key === "Tab" && editor.contains(target) ? onTab(event) : undefined;
  }
  if (target.matches("[data-adds][aria-activedescendant]") && event.key !== "Tab") return undefined;
  if (event.key === "Escape") return "giveBack";
  if (event.key === "Tab") return target.matches("input, textarea") ? onTab(event) : undefined;
  if (event.key !== "Enter" || event.shiftKey || target.closest("button, a, [role=gridcell]"))
    return undefined;
  // Text that is to become an element of a list is added first.
  return target.matches(ADDING) && pendingElement(editor) !== "" ? undefined : "save";
}

/** The field in which an element of a list is typed. */
const ADDING = "input[data-adds=text]";

/** What is typed in an editor and is not an element of its list yet. */
export const pendingElement = (editor: Element | null): string =>
  editor?.querySelector<HTMLInputElement>(ADDING)?.value ?? "";

const onTab = (event: KeyboardEvent): Pressed => (event.shiftKey ? "previous" : "next");

/** Whether the focus is still in the editor, or in what floats over it. */
export function staysIn(editor: Element): boolean {
  const focused = document.activeElement;
  if (!document.hasFocus()) return true;
  return (
    editor.contains(focused) ||
    (focused?.closest("[data-trigger], [role=dialog]:not([data-place])") ?? null) !== null
  );
}

/** Goes on with the field after this one, or before it. */
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
