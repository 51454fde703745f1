/** What a change of a definition would do, as the service says it: it makes the change and undoes it. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, inProject, PATCH, type Schemas } from "../api/client";
import { renderJson } from "../api/json";
import { RequestError } from "../api/problem";
import { useSession } from "../session/session";
import type { Plan } from "./effects";

/** A pause in writing after which the service is asked. */
const PAUSE = 400;

export type DryRun = {
  /** Missing while it is asked for, and where the service cannot say. */
  plan: Plan | undefined;
  /** The error of the dry run. */
  rejection: RequestError | undefined;
  isAsking: boolean;
};

/** Asked whenever the change rests; null for no change. */
export function useDryRun(
  project: string,
  template: string,
  change: Schemas["TemplateChange"] | null,
): DryRun {
  const { key } = useSession();
  const body = change === null ? null : renderJson(change);
  const [rested, setRested] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setRested(body), PAUSE);
    return () => clearTimeout(timer);
  }, [body]);
  const { data, error, isFetching } = useQuery({
    queryKey: [key, "dry-run", project, template, rested],
    queryFn: async () =>
      (await answer(
        PATCH("/v1/templates/{template}", {
          params: { path: { template }, query: { dry_run: true }, header: inProject(project) },
          body: change as Schemas["TemplateChange"],
        }),
      )) as Plan,
    enabled: rested !== null && rested === body,
    retry: false,
    gcTime: 0,
  });
  if (body === null) return { plan: undefined, rejection: undefined, isAsking: false };
  if (rested !== body) return { plan: undefined, rejection: undefined, isAsking: true };
  const isRejected = error instanceof RequestError && error.status >= 400 && error.status < 500;
  return { plan: data, rejection: isRejected ? error : undefined, isAsking: isFetching };
}
