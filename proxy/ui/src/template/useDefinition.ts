/** Queries and mutations of the template pages. */
import { useQuery } from "@tanstack/react-query";
import { bodyOf, DELETE, GET, inProject, PATCH, POST, type Schemas } from "../api/client";
import { RequestError } from "../api/problem";
import { queryClient, type Template } from "../api/queries";
import { useSession } from "../session/session";

export type Job = Schemas["Jobs"]["jobs"][number];

/** Earlier versions of the service do not have this route. */
const orNone =
  <T>(none: T) =>
  (error: unknown): T => {
    if (error instanceof RequestError && (error.status === 404 || error.status === 403)) return none;
    throw error;
  };

/** The number of matching records; null while they are counted. */
export function useCount(
  project: string,
  template: string,
  filters: Schemas["Condition"][] = [],
  isEnabled = true,
): number | null {
  const { key } = useSession();
  const { data } = useQuery({
    queryKey: [key, "count", project, template, filters],
    queryFn: async () => {
      const body: Schemas["Search"] = { filters, count: "exact", limit: 1, fields: [] };
      const path = { template };
      const found = await bodyOf(
        POST("/v1/entities/search/{template}", { params: { path, header: inProject(project) }, body }),
      );
      return Number(found.total ?? 0);
    },
    enabled: isEnabled,
  });
  return data ?? null;
}

/** The saved views of a template. */
export function useViews(project: string, template: string) {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "views", project, template],
    queryFn: async () =>
      (
        await bodyOf(
          GET("/v1/templates/{template}/views", {
            params: { path: { template }, header: inProject(project) },
          }),
        )
      ).views,
  });
}

/** The background jobs of a template, polled while there are any. */
export function useJobs(project: string, template: string, isEnabled: boolean): Job[] {
  const { key } = useSession();
  const { data } = useQuery({
    queryKey: [key, "jobs", project],
    queryFn: async () =>
      (
        await bodyOf(GET("/v1/jobs", { params: { header: inProject(project) } as never })).catch(
          orNone({ jobs: [] as Job[] }),
        )
      ).jobs,
    enabled: isEnabled,
    refetchInterval: ({ state }) => (state.data && state.data.length > 0 ? 2_000 : 15_000),
  });
  return (data ?? []).filter((job) => job.template === `${project}.${template}`);
}

/** Attributes that searches have used without an index. */
export function useIndexSuggestions(project: string, template: string, isEnabled: boolean) {
  const { key } = useSession();
  const { data } = useQuery({
    queryKey: [key, "index-suggestions", project, template],
    queryFn: async () =>
      (
        await bodyOf(
          GET("/v1/templates/{template}/index-suggestions", {
            params: { path: { template }, header: inProject(project) },
          }),
        ).catch(orNone({ suggestions: [] as Schemas["IndexSuggestions"]["suggestions"] }))
      ).suggestions,
    enabled: isEnabled,
  });
  return data ?? [];
}

/**
 * Reloads all queries of definitions or records. Counts of values are reloaded when they are shown again, because their
 * attribute may have been dropped.
 */
function forget() {
  const isOfValues = ({ queryKey }: { queryKey: readonly unknown[] }) =>
    queryKey[1] === "count" && Array.isArray(queryKey[4]) && queryKey[4].length > 0;
  void queryClient.invalidateQueries({ predicate: isOfValues, refetchType: "none" });
  return queryClient.invalidateQueries({ predicate: (query) => !isOfValues(query) });
}

/** Reloads the lists of templates. Queries of a dropped template are not reloaded. */
export const forgetTemplates = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[1] === "templates" || queryKey[1] === "me",
  });

export async function changeTemplate(project: string, slug: string, body: Schemas["TemplateChange"]) {
  const path = { template: slug };
  const changed = await bodyOf(
    PATCH("/v1/templates/{template}", { params: { path, header: inProject(project) }, body }),
  );
  void forget();
  // The response is a template, because this function makes no dry runs.
  return changed as Template;
}

export async function createTemplate(project: string, body: Schemas["NewTemplate"]): Promise<Template> {
  const created = await bodyOf(POST("/v1/templates", { params: { header: inProject(project) }, body }));
  await forget();
  return created as Template;
}

export async function dropTemplate(project: string, slug: string) {
  const { response, error } = await DELETE("/v1/templates/{template}", {
    params: { path: { template: slug }, header: inProject(project) },
  });
  await bodyOf(Promise.resolve({ data: {}, error, response }));
}
