import { useQueries, useQuery } from "@tanstack/react-query";
import { inBackground } from "../api/backgroundQueue";
import { bodyOf, GET, inProject } from "../api/client";
import { useSession } from "../session/session";

async function read(project: string, template: string) {
  const params = { path: { template }, header: inProject(project) };
  return (await bodyOf(GET("/v1/templates/{template}/views", { params }))).views;
}

const viewsOf = (key: string | null, project: string, template: string) => ({
  queryKey: [key, "views", project, template],
  queryFn: () => read(project, template),
  enabled: key !== null,
  staleTime: 60_000,
});

/** The saved views of a template. */
export function useViews(project: string, template: string) {
  const { key } = useSession();
  return useQuery(viewsOf(key, project, template));
}

/** The saved views of several templates that have loaded. */
export function useViewsOfMany(project: string, templates: readonly string[]) {
  const { key } = useSession();
  return useQueries({
    queries: templates.map((template) => ({
      ...viewsOf(key, project, template),
      queryFn: () => inBackground(() => read(project, template)),
    })),
    combine: (results) =>
      results.flatMap(({ data }, at) =>
        (data ?? []).map((view) => ({ ...view, template: templates[at] ?? "" })),
      ),
  });
}
