/**
 * Plans the requests that change the grants of a role on a target.
 *
 * The service grants privileges with a scope, but can only revoke all privileges on a target at once. To remove a
 * privilege, the plan therefore revokes all of them and grants the remaining ones again.
 */
import type { Grant } from "../api/administration";
import { isSame } from "../filter/condition";

export type Privilege = Grant["privileges"][number];
export type Part = { privileges: Privilege[]; scope: unknown };
export type Step = { kind: "revoke" } | ({ kind: "grant" } & Part);

export const PRIVILEGES: Privilege[] = ["read", "create", "update", "delete", "define"];

/** The request to grant privileges with a scope. `define` applies to templates and has no scope. */
function partsOf({ privileges, scope }: Part): Part[] {
  const ofRecords = privileges.filter((it) => it !== "define");
  const parts: Part[] = scope === null ? [{ privileges, scope }] : [{ privileges: ofRecords, scope }];
  if (scope !== null && privileges.includes("define")) parts.push({ privileges: ["define"], scope: null });
  return parts.filter((part) => part.privileges.length > 0);
}

/** Replaces the grant `edited` with `next` among all grants of a role. A null `edited` adds, a null `next` revokes. */
export function plan(present: readonly Part[], edited: Part | null, next: Part | null): Step[] {
  const others = present.filter((part) => part !== edited);
  const added = next === null ? [] : partsOf(next);
  const granted = added.flatMap((part) => part.privileges);
  // A privilege that is granted here is removed from the other grants.
  const kept = others
    .map((part) => ({ ...part, privileges: part.privileges.filter((it) => !granted.includes(it)) }))
    .filter((part) => part.privileges.length > 0);
  const before = present.flatMap((part) => part.privileges);
  const after = [...kept, ...added].flatMap((part) => part.privileges);
  const grants = (parts: Part[]) => parts.map((part): Step => ({ kind: "grant", ...part }));
  if (before.every((it) => after.includes(it))) {
    const isGranted = (part: Part) =>
      present.some(
        (it) =>
          isSame(it.scope ?? null, part.scope ?? null) &&
          part.privileges.every((privilege) => it.privileges.includes(privilege)),
      );
    return grants(added.filter((part) => !isGranted(part)));
  }
  return [{ kind: "revoke" }, ...grants([...kept, ...added])];
}
