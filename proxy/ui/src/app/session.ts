/** Signing in and out, with what this tab keeps of the answers. */
import { navigate } from "wouter/use-browser-location";
import { answer, GET } from "../api/client";
import { queryClient } from "../api/queries";
import { addresses } from "../navigation/addresses";
import { currentSession, seeAsMyself, signIn, signOut } from "../session/session";

/** Signs in after the service said that it knows the key. @throws RequestError */
export async function enter(key: string): Promise<void> {
  await answer(GET("/v1/me", { headers: { authorization: `Bearer ${key}` } }));
  const { key: refused } = currentSession();
  if (refused !== null) keepWhatIsShown(refused, key);
  signIn(key);
  await queryClient.invalidateQueries();
}

/**
 * Hands the answers on the screen to another key, so that no page, form or editor is put away while they are read anew
 * with the rights of that key.
 */
function keepWhatIsShown(from: string, to: string) {
  for (const query of queryClient.getQueryCache().getAll()) {
    const [owner, ...place] = query.queryKey;
    if (owner !== from || !query.isActive() || query.state.data === undefined) continue;
    queryClient.setQueryData([to, ...place], query.state.data, { updatedAt: 0 });
  }
}

/** Signs out: nothing that the service answered stays in this tab. */
export function leave() {
  signOut();
  queryClient.clear();
  navigate(addresses.home(), { replace: true });
}

/** Returns from a role to the administrator's own key. */
export function returnToMyself() {
  const { key, own } = currentSession();
  if (own === null) return;
  seeAsMyself();
  // The pages about access are not loaded for who never opens them.
  if (key !== null)
    import("../access/seeing").then(
      ({ revokeSeenKey }) => revokeSeenKey(key),
      () => undefined,
    );
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === key });
}
