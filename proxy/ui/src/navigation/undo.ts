/** The last change that can be taken back, for Ctrl+Z. */
import { currentSession } from "../session/session";

type Undo = {
  /** What was changed, such as the id of a record. */
  about: string;
  /** The key that changed it: another caller takes nothing back. */
  key: string | null;
  run: () => void;
};

let last: Undo | null = null;

export function offerUndo(about: string, run: () => void) {
  last = { about, key: currentSession().key, run };
}

/** The change was taken back another way, or no longer can be. */
export function withdrawUndo(about: string) {
  if (last?.about === about) last = null;
}

/** Takes the last change back, once. */
export function undoLast() {
  const undo = last;
  last = null;
  if (undo !== null && undo.key === currentSession().key) undo.run();
}
