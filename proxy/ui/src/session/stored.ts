/** The session in the storage of this tab. */

const STORAGE_KEY = "keyed.session";

export type Session = {
  /** The API key that signs requests; null when no user is signed in. */
  key: string | null;
  /** The administrator's own key while `key` is that of the viewed role. */
  own: string | null;
  /** The viewed role. */
  role: string | null;
  /** The key was rejected. Open pages stay open until the user enters another key. */
  rejected: boolean;
};

export const SIGNED_OUT: Session = { key: null, own: null, role: null, rejected: false };

export function storedSession(): Session {
  try {
    return { ...SIGNED_OUT, ...JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "{}") };
  } catch {
    return SIGNED_OUT;
  }
}

export function storeSession(session: Session) {
  if (session.key === null) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, JSON.stringify(session));
}
