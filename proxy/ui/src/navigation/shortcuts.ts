/** Keyboard shortcuts of the current page. */
import type { LucideIcon } from "lucide-react";
import { useEffect, useRef, useSyncExternalStore } from "react";

export type Shortcut = {
  /** The `KeyboardEvent.key`, prefixed with `mod+` for Ctrl or Cmd: "/", "f", "mod+k". */
  keys: string;
  /** The name in the list of shortcuts (`?`) and the palette. */
  label: string;
  /** The icon in the palette. */
  icon: LucideIcon;
  run: () => void;
};

/** The scopes of shortcuts, from the outermost to the innermost, which takes precedence. */
export const SCOPES = ["everywhere", "page", "list", "record"] as const;
export type ShortcutScope = (typeof SCOPES)[number];
export type ActiveShortcut = Shortcut & { scope: ShortcutScope };

type Slot = { scope: ShortcutScope; shortcuts: readonly Shortcut[] };

let slots: Slot[] = [];
let active: ActiveShortcut[] = [];
const listeners = new Set<() => void>();

function update() {
  const rank = ({ scope }: Slot) => SCOPES.indexOf(scope);
  active = [...slots]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((slot) =>
      slot.shortcuts.map((shortcut, at) => ({
        ...shortcut,
        scope: slot.scope,
        // Calls the action of the last render, not that of the registration.
        run: () => slot.shortcuts[at]?.run(),
      })),
    );
  for (const listener of listeners) listener();
}

/** Fields for text input. A checkbox is an input as well, but does not use letters. */
const WRITES =
  "textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range], [type=file])";
/** Lists in which a letter moves to the entry that begins with it. */
const TYPEAHEAD_LISTS = "[role=menu], [role=listbox], [role=spinbutton]";
/**
 * Dialogs that capture the keyboard. A drawer next to its page has `data-place`. Messages at the bottom of the page are
 * not modal.
 */
const MODAL_DIALOGS = "[role=dialog]:not([data-place]), [role=alertdialog]:not([aria-modal=false])";

/** Whether the focused element handles the key press. */
function isTaken(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches(WRITES) || target.closest(TYPEAHEAD_LISTS) !== null)
  );
}

function pressed(event: KeyboardEvent): string {
  return (event.ctrlKey || event.metaKey ? "mod+" : "") + event.key;
}

/** Installs the only key listener of the application. */
export function useShortcutListener() {
  useEffect(() => {
    const handle = (event: KeyboardEvent, isModified: boolean) => {
      const keys = pressed(event);
      if (keys.startsWith("mod+") !== isModified) return;
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      // The browser undoes typed text.
      if ((!isModified || keys === "mod+z") && isTaken(event.target)) return;
      if (document.querySelector(MODAL_DIALOGS)) return;
      const shortcut = active.findLast((it) => it.keys === keys);
      if (shortcut) {
        event.preventDefault();
        shortcut.run();
      }
    };
    // Fields stop the propagation of key presses, so those with Ctrl are handled in the capture phase.
    const before = (event: KeyboardEvent) => handle(event, true);
    const after = (event: KeyboardEvent) => handle(event, false);
    window.addEventListener("keydown", before, { capture: true });
    window.addEventListener("keydown", after);
    return () => {
      window.removeEventListener("keydown", before, { capture: true });
      window.removeEventListener("keydown", after);
    };
  }, []);
}

const named = (shortcuts: readonly Shortcut[]) =>
  shortcuts.map(({ keys, label }) => `${keys} ${label}`).join("\n");

/** Activates shortcuts while the component is mounted. The array may be a new one in each render. */
export function useShortcuts(shortcuts: readonly Shortcut[], scope: ShortcutScope = "page") {
  const slot = useRef<Slot>({ scope, shortcuts: [] });
  useEffect(() => {
    const mine = slot.current;
    slots = [...slots, mine];
    update();
    return () => {
      slots = slots.filter((it) => it !== mine);
      update();
    };
  }, []);
  useEffect(() => {
    const isSame = named(slot.current.shortcuts) === named(shortcuts);
    slot.current.shortcuts = shortcuts;
    if (!isSame) update();
  }, [shortcuts]);
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** All active shortcuts. If several have the same key, the last one applies. */
export const useActiveShortcuts = (): ActiveShortcut[] => useSyncExternalStore(subscribe, () => active);
