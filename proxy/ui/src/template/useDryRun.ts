/** The effects of a definition change, from a dry run: the service makes the change and rolls it back. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bodyOf, inProject, PATCH, type Schemas } from "../api/client";
import { renderJson } from "../api/json";
import { RequestError } from "../api/problem";
import { useSession } from "../session/session";
import type { Plan } from "./effects";

/** Milliseconds without an edit after which the dry run starts. */
const PAUSE = 400;

export type DryRun = {
  /** Missing while it runs, and if the service does not support it. */
  plan: Plan | undefined;
  /** The error of the dry run. */
  rejection: RequestError | undefined;
  isAsking: boolean;
};

/** Runs when the change has not been edited for a moment; null for no change. */
export function useDryRun(
  project: string,
  template: string,
  change: Schemas["TemplateChange"] | null,
): DryRun {
  const { key } = useSession();
  const body = change === null ? null : renderJson(change);
  const [debounced, setDebounced] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(body), PAUSE);
    return () => clearTimeout(timer);
  }, [body]);
  const { data, error, isFetching } = useQuery({
    queryKey: [key, "dry-run", project, template, debounced],
    queryFn: async () =>
      (await bodyOf(
        PATCH("/v1/templates/{template}", {
          params: { path: { template }, query: { dry_run: true }, header: inProject(project) },
          body: change as Schemas["TemplateChange"],
        }),
      )) as Plan,
    enabled: debounced !== null && debounced === body,
    retry: false,
    gcTime: 0,
  });
  if (body === null) return { plan: undefined, rejection: undefined, isAsking: false };
  if (debounced !== body) return { plan: undefined, rejection: undefined, isAsking: true };
  const isRejected = error instanceof RequestError && error.status >= 400 && error.status < 500;
  return { plan: data, rejection: isRejected ? error : undefined, isAsking: isFetching };
}
