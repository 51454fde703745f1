/** The session as this tab stores it. */

const PLACE = "keyed.session";

export type Session = {
  /** The API key that signs requests; null when no user is signed in. */
  key: string | null;
  /** The administrator's own key while `key` is that of the role looked at. */
  own: string | null;
  /** The role that is looked at. */
  role: string | null;
  /** The key was refused: what is open stays open until another key is given. */
  refused: boolean;
};

export const NOBODY: Session = { key: null, own: null, role: null, refused: false };

export function storedSession(): Session {
  try {
    return { ...NOBODY, ...JSON.parse(sessionStorage.getItem(PLACE) ?? "{}") };
  } catch {
    return NOBODY;
  }
}

export function storeSession(session: Session) {
  if (session.key === null) sessionStorage.removeItem(PLACE);
  else sessionStorage.setItem(PLACE, JSON.stringify(session));
}
