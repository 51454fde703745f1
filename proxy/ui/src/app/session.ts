/** Sign-in and sign-out, and the responses that this tab caches. */
import { navigate } from "wouter/use-browser-location";
import { bodyOf, GET } from "../api/client";
import { type Me, queryClient } from "../api/queries";
import { addresses } from "../navigation/addresses";
import { currentSession, seeAsMyself, signIn, signOut } from "../session/session";

/** Signs in after the service has accepted the key. @throws RequestError */
export async function enter(key: string): Promise<void> {
  const { role } = await bodyOf(GET("/v1/me", { headers: { authorization: `Bearer ${key}` } }));
  const { key: rejected } = currentSession();
  if (rejected !== null) {
    if (roleOf(rejected) === role) keepResponses(rejected, key);
    else forget();
  }
  signIn(key);
  await queryClient.invalidateQueries();
}

/** The role that a key had at its last request. */
function roleOf(key: string): string | undefined {
  const responses = queryClient.getQueriesData<Me>({ queryKey: [key, "me"] });
  return responses.find(([, me]) => me !== undefined)?.[1]?.role;
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
function keepResponses(from: string, to: string) {
  for (const query of queryClient.getQueryCache().getAll()) {
    const [owner, ...rest] = query.queryKey;
    if (owner !== from || !query.isActive() || query.state.data === undefined) continue;
    queryClient.setQueryData([to, ...rest], query.state.data, { updatedAt: 0 });
  }
}

/** Revokes the key of the viewed role. */
function revokeViewedKey(key: string | null, own: string | null) {
  if (key === null || own === null) return;
  // Loaded on demand: most users never open the access pages.
  import("../access/viewAs").then(
    ({ revokeRoleKey }) => revokeRoleKey(key, own),
    () => undefined,
  );
}

/** Signs out and removes all cached responses from this tab. */
export function endSession() {
  const { key, own } = currentSession();
  signOut();
  queryClient.clear();
  revokeViewedKey(key, own);
  navigate(addresses.home(), { replace: true });
}

/** Returns from the viewed role to the administrator's own key. */
export function returnToMyself() {
  const { key, own } = currentSession();
  if (own === null) return;
  seeAsMyself();
  revokeViewedKey(key, own);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === key });
}
