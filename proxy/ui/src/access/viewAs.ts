/** Shows the application as a role sees it, with a separate API key that soon expires. */
import { navigate } from "wouter/use-browser-location";
import { readAdministrationAgain } from "../api/administration";
import { bodyOf, DELETE, inProject, POST } from "../api/client";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { seeAs } from "../session/session";
import { keyId } from "./keyState";

const MINUTES = 30;

/** Issues a key for the role and opens the project with it. @throws RequestError */
export async function viewAsRole(project: string, role: string): Promise<void> {
  const { key } = await bodyOf(
    POST("/v1/api-keys", {
      params: { header: inProject(project) },
      body: {
        role,
        projects: [project],
        label: pageMessages.access.seeAsLabel(role),
        expires_at: new Date(Date.now() + MINUTES * 60_000).toISOString(),
      },
    }),
  );
  if (key === null) return;
  seeAs(role, key);
  navigate(addresses.project(project));
}

/** Revokes that key with the administrator's own key. If this fails, the key expires. */
export function revokeRoleKey(key: string, own: string): void {
  const id = keyId(key);
  if (id === null) return;
  // The administrator may have signed out by then.
  const headers = { authorization: `Bearer ${own}` };
  bodyOf(DELETE("/v1/api-keys/{id}", { params: { path: { id } }, headers }))
    .then(readAdministrationAgain)
    .catch(() => undefined);
}
