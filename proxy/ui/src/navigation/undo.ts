/** The last change that can be undone, for Ctrl+Z. */
import { useSyncExternalStore } from "react";
import { currentSession } from "../session/session";

type Undo = {
  /** The changed object, such as the id of a record. */
  about: string;
  /** The API key that made the change. Another caller cannot undo it. */
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

/** The change was undone in another way, or can no longer be undone. */
export function withdrawUndo(about: string) {
  if (last?.about === about) setLast(null);
}

export const canUndo = (): boolean => last !== null && last.key === currentSession().key;

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether there is a change to undo. */
export const useCanUndo = (): boolean => useSyncExternalStore(subscribe, canUndo);

/** Undoes the last change, once. */
export function undoLast() {
  const undo = last;
  setLast(null);
  if (undo !== null && undo.key === currentSession().key) undo.run();
}
