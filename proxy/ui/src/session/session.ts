/**
 * The signed-in user: an API key that is stored only until the tab closes.
 *
 * While an administrator views the application as another role, the key of that role is used instead of their own.
 */
import { useSyncExternalStore } from "react";
import { forgetPosition } from "./position";
import { type Session, SIGNED_OUT, storedSession, storeSession } from "./stored";

export type { Session };

let session = storedSession();
const listeners = new Set<() => void>();

function change(next: Session) {
  session = next;
  storeSession(next);
  for (const listener of listeners) listener();
}

export const currentSession = () => session;

export const signIn = (key: string) => change({ ...SIGNED_OUT, key });

export const signOut = () => {
  // The next session may begin after a restore, which takes positions back.
  forgetPosition();
  change(SIGNED_OUT);
};

/** Reports that the service rejected this key. A key that is no longer in use is ignored. */
export function markRejected(key: string) {
  if (session.key === key && !session.rejected) change({ ...session, rejected: true });
}

/** Waits until the user enters another key; false if the session ends. */
export function anotherKey(rejected: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const end = () => {
      listeners.delete(look);
      signal.removeEventListener("abort", abort);
    };
    const look = () => {
      if (session.key === rejected && session.rejected) return;
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

/** Views the application with the key of a role. */
export const seeAs = (role: string, key: string) =>
  change({ key, role, own: session.own ?? session.key, rejected: false });

/** Returns from the viewed role to the administrator's own key. */
export const seeAsMyself = () => change({ ...SIGNED_OUT, key: session.own ?? session.key });

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useSession = (): Session => useSyncExternalStore(subscribe, currentSession);
