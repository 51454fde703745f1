/** The last change that can be taken back, for Ctrl+Z. */
import { useSyncExternalStore } from "react";
import { currentSession } from "../session/session";

type Undo = {
  /** What was changed, such as the id of a record. */
  about: string;
  /** The key that changed it: another caller takes nothing back. */
  key: string | null;
  run: () => void;
};

let last: Undo | null = null;
const listeners = new Set<() => void>();

function setLast(next: Undo | null) {
  last = next;
  for (const listener of listeners) listener();
}

export function offerUndo(about: string, run: () => void) {
  setLast({ about, key: currentSession().key, run });
}

/** The change was taken back another way, or no longer can be. */
export function withdrawUndo(about: string) {
  if (last?.about === about) setLast(null);
}

export const canUndo = (): boolean => last !== null && last.key === currentSession().key;

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether there is a change to take back. */
export const useCanUndo = (): boolean => useSyncExternalStore(subscribe, canUndo);

/** Takes the last change back, once. */
export function undoLast() {
  const undo = last;
  setLast(null);
  if (undo !== null && undo.key === currentSession().key) undo.run();
}
