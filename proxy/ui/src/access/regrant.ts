/** Sends the steps of a plan. */
import { readAdministrationAgain } from "../api/administration";
import { bodyOf, DELETE, inProject, PUT, type Schemas } from "../api/client";
import type { Part, Step } from "./grantPlan";

/** @throws RequestError after restoring the grants that were already revoked. */
export async function regrant(
  project: string,
  role: string,
  target: string,
  present: readonly Part[],
  steps: readonly Step[],
): Promise<void> {
  const header = inProject(project);
  const grant = ({ privileges, scope }: Part) =>
    bodyOf(
      PUT("/v1/grants", {
        params: { header },
        body: { role, target, privileges, scope: scope as Schemas["GrantRequest"]["scope"] },
      }),
    );
  let isRevoked = false;
  try {
    for (const step of steps) {
      if (step.kind === "grant") await grant(step);
      else {
        await bodyOf(DELETE("/v1/grants", { params: { header, query: { role, target } } }));
        isRevoked = true;
      }
    }
  } catch (error) {
    if (isRevoked) for (const part of present) await grant(part).catch(() => undefined);
    throw error;
  } finally {
    await readAdministrationAgain();
  }
}
