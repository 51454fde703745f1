/** Keyboard shortcuts of the place that is shown. */
import { useEffect, useSyncExternalStore } from "react";

export type Shortcut = {
  /** As `KeyboardEvent.key` has it, `mod+` before it for Ctrl or Cmd: "/", "f", "mod+k". */
  keys: string;
  /** What it does, for the list behind `?` and the palette. */
  label: string;
  run: () => void;
};

let active: Shortcut[] = [];
const listeners = new Set<() => void>();

function change(next: Shortcut[]) {
  active = next;
  for (const listener of listeners) listener();
}

/** Whether a key press writes text where it lands. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"))
  );
}

function pressed(event: KeyboardEvent): string {
  return (event.ctrlKey || event.metaKey ? "mod+" : "") + event.key;
}

/** Installs the one listener of the application. */
export function useShortcutListener() {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const keys = pressed(event);
      if (
        !keys.startsWith("mod+") &&
        (isTyping(event.target) || document.querySelector("[role=dialog],[role=alertdialog]"))
      )
        return;
      // The shortcut of the innermost place wins.
      const shortcut = active.findLast((it) => it.keys === keys);
      if (shortcut) {
        event.preventDefault();
        shortcut.run();
      }
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}

/** Shortcuts that hold while the component is shown. */
export function useShortcuts(shortcuts: Shortcut[]) {
  useEffect(() => {
    change([...active, ...shortcuts]);
    return () => change(active.filter((it) => !shortcuts.includes(it)));
  }, [shortcuts]);
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** All shortcuts that hold now. */
export const useActiveShortcuts = (): Shortcut[] => useSyncExternalStore(subscribe, () => active);
