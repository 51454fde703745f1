/** Sign-in and sign-out, and the responses that this tab caches. */
import { navigate } from "wouter/use-browser-location";
import { answer, GET } from "../api/client";
import { type Me, queryClient } from "../api/queries";
import { addresses } from "../navigation/addresses";
import { currentSession, seeAsMyself, signIn, signOut } from "../session/session";

/** Signs in after the service has accepted the key. @throws RequestError */
export async function enter(key: string): Promise<void> {
  const { role } = await answer(GET("/v1/me", { headers: { authorization: `Bearer ${key}` } }));
  const { key: rejected } = currentSession();
  if (rejected !== null) {
    if (roleOf(rejected) === role) keepWhatIsShown(rejected, key);
    else forget();
  }
  signIn(key);
  await queryClient.invalidateQueries();
}

/** The role that a key had at its last request. */
function roleOf(key: string): string | undefined {
  const answers = queryClient.getQueriesData<Me>({ queryKey: [key, "me"] });
  return answers.find(([, me]) => me !== undefined)?.[1]?.role;
}

/** Clears the screen and the waiting requests, so that the next user sees nothing of the previous session. */
function forget() {
  signOut();
  queryClient.clear();
}

/**
 * Keeps the cached responses for another key, so that no page, form or editor closes while they are loaded again with
 * the privileges of that key.
 */
function keepWhatIsShown(from: string, to: string) {
  for (const query of queryClient.getQueryCache().getAll()) {
    const [owner, ...place] = query.queryKey;
    if (owner !== from || !query.isActive() || query.state.data === undefined) continue;
    queryClient.setQueryData([to, ...place], query.state.data, { updatedAt: 0 });
  }
}

/** Revokes the key of the viewed role. */
function giveBack(key: string | null, own: string | null) {
  if (key === null || own === null) return;
  // Loaded on demand: most users never open the access pages.
  import("../access/viewAs").then(
    ({ revokeSeenKey }) => revokeSeenKey(key, own),
    () => undefined,
  );
}

/** Signs out and removes all cached responses from this tab. */
export function leave() {
  const { key, own } = currentSession();
  signOut();
  queryClient.clear();
  giveBack(key, own);
  navigate(addresses.home(), { replace: true });
}

/** Returns from the viewed role to the administrator's own key. */
export function returnToMyself() {
  const { key, own } = currentSession();
  if (own === null) return;
  seeAsMyself();
  giveBack(key, own);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === key });
}
