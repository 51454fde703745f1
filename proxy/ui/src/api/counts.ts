/** Approximate record counts of templates. */
import { useQuery } from "@tanstack/react-query";
import { useSession } from "../session/session";
import { inBackground } from "./backgroundQueue";
import { bodyOf, inProject, POST } from "./client";
import { countKey } from "./lists";

/** The planner's estimate is inaccurate for small or new tables. Counting them is cheap. */
const EXACT_BELOW = 5_000;

async function countRecords(project: string, template: string, signal: AbortSignal): Promise<number> {
  const params = { path: { template }, header: inProject(project) };
  const ask = async (count: "estimated" | "exact") => {
    const body = { limit: 1, fields: [], count };
    const found = await bodyOf(POST("/v1/entities/search/{template}", { params, body, signal }));
    return Number(found.total ?? 0);
  };
  const estimate = await ask("estimated");
  return estimate < EXACT_BELOW ? ask("exact") : estimate;
}

/** The approximate number of records of the template; undefined until it is known. */
export function useCount(project: string, template: string, isEnabled: boolean): number | undefined {
  const { key } = useSession();
  const count = useQuery({
    queryKey: countKey(project, template),
    queryFn: ({ signal }) => inBackground(() => countRecords(project, template, signal)),
    enabled: key !== null && isEnabled,
    staleTime: 60_000,
    retry: false,
  });
  return count.data;
}
