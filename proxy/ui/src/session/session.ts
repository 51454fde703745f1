/**
 * Who is signed in: an API key, kept for the life of this tab alone.
 *
 * While administrators look at the application as another role, the key of that role stands before their own.
 */
import { useSyncExternalStore } from "react";
import { NOBODY, type Session, storedSession, storeSession } from "./stored";

export type { Session };

let session = storedSession();
const listeners = new Set<() => void>();

function change(next: Session) {
  session = next;
  storeSession(next);
  for (const listener of listeners) listener();
}

export const currentSession = () => session;

export const signIn = (key: string) => change({ ...NOBODY, key });

export const signOut = () => change(NOBODY);

/** The service refused this key. A key that is no longer used does not count. */
export function refuse(key: string) {
  if (session.key === key && !session.refused) change({ ...session, refused: true });
}

/** Waits until another key than the refused one is given; false if the session ends instead. */
export function anotherKey(refused: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const end = () => {
      listeners.delete(look);
      signal.removeEventListener("abort", abort);
    };
    const look = () => {
      if (session.key === refused && session.refused) return;
      end();
      resolve(session.key !== null);
    };
    const abort = () => {
      end();
      reject(new DOMException("The request is no longer needed.", "AbortError"));
    };
    if (signal.aborted) return abort();
    listeners.add(look);
    signal.addEventListener("abort", abort);
    look();
  });
}

/** Looks at the application with the key of a role. */
export const seeAs = (role: string, key: string) =>
  change({ key, role, own: session.own ?? session.key, refused: false });

/** Returns from the role to the administrator's own key. */
export const seeAsMyself = () => change({ ...NOBODY, key: session.own ?? session.key });

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useSession = (): Session => useSyncExternalStore(subscribe, currentSession);
