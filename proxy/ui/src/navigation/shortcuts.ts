/** Keyboard shortcuts of the place that is shown. */
import type { LucideIcon } from "lucide-react";
import { useEffect, useRef, useSyncExternalStore } from "react";

export type Shortcut = {
  /** As `KeyboardEvent.key` has it, `mod+` before it for Ctrl or Cmd: "/", "f", "mod+k". */
  keys: string;
  /** What it does, for the list behind `?` and the palette. */
  label: string;
  /** What the palette shows before it. */
  icon: LucideIcon;
  run: () => void;
};

/** Where shortcuts hold, from the outermost place to the innermost, which wins. */
export const PLACES = ["everywhere", "page", "list", "record"] as const;
export type ShortcutPlace = (typeof PLACES)[number];
export type ActiveShortcut = Shortcut & { place: ShortcutPlace };

type Slot = { place: ShortcutPlace; shortcuts: readonly Shortcut[] };

let slots: Slot[] = [];
let active: ActiveShortcut[] = [];
const listeners = new Set<() => void>();

function say() {
  const rank = ({ place }: Slot) => PLACES.indexOf(place);
  active = [...slots]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((slot) =>
      slot.shortcuts.map((shortcut, at) => ({
        ...shortcut,
        place: slot.place,
        // The action as it was rendered last, not as it was when the list was read.
        run: () => slot.shortcuts[at]?.run(),
      })),
    );
  for (const listener of listeners) listener();
}

/** Fields that write text. A checkbox is an input as well, but has no use for letters. */
const WRITES =
  "textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=range], [type=file])";
/** Lists that go to the entry whose name begins with the letter. */
const SEEKS = "[role=menu], [role=listbox], [role=spinbutton]";
/**
 * Dialogs that keep the keyboard to themselves. A drawer that stands beside its page says `data-place`; messages at the
 * bottom of the page are not modal.
 */
const KEEPS = "[role=dialog]:not([data-place]), [role=alertdialog]:not([aria-modal=false])";

/** Whether a key press belongs to what has the focus. */
function isTaken(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches(WRITES) || target.closest(SEEKS) !== null)
  );
}

function pressed(event: KeyboardEvent): string {
  return (event.ctrlKey || event.metaKey ? "mod+" : "") + event.key;
}

/** Installs the one listener of the application. */
export function useShortcutListener() {
  useEffect(() => {
    const handle = (event: KeyboardEvent, isModified: boolean) => {
      const keys = pressed(event);
      if (keys.startsWith("mod+") !== isModified) return;
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      // What is typed is taken back by the browser.
      if ((!isModified || keys === "mod+z") && isTaken(event.target)) return;
      if (document.querySelector(KEEPS)) return;
      const shortcut = active.findLast((it) => it.keys === keys);
      if (shortcut) {
        event.preventDefault();
        shortcut.run();
      }
    };
    // Fields keep key presses from the page, so those with Ctrl are looked at before the fields see them.
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

/** Shortcuts that hold while the component is shown. The list may be a new one at each rendering. */
export function useShortcuts(shortcuts: readonly Shortcut[], place: ShortcutPlace = "page") {
  const slot = useRef<Slot>({ place, shortcuts: [] });
  useEffect(() => {
    const mine = slot.current;
    slots = [...slots, mine];
    say();
    return () => {
      slots = slots.filter((it) => it !== mine);
      say();
    };
  }, []);
  useEffect(() => {
    const isSame = named(slot.current.shortcuts) === named(shortcuts);
    slot.current.shortcuts = shortcuts;
    if (!isSame) say();
  }, [shortcuts]);
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** All shortcuts that hold now; of those of the same keys, the last does. */
export const useActiveShortcuts = (): ActiveShortcut[] => useSyncExternalStore(subscribe, () => active);
