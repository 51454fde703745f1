/** Shared queries: the caller, the projects, the templates. */
import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { useSession } from "../session/session";
import { bodyOf, GET, inProject, type Schemas } from "./client";
import { RequestError } from "./problem";

export type Me = Schemas["Me"];
export type Project = Schemas["Projects"]["projects"][number];
export type Template = Schemas["Template"];
export type Attribute = Schemas["Attribute"];
export type RecordBody = Schemas["Record"];
export type View = Schemas["View"];
export type Privilege = Me["templates"][number]["privileges"][number];

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Only a request shows whether the service is reachable, because it may be on a network without internet access.
      networkMode: "always",
      // Only transient errors are retried.
      retry: (count, error) =>
        count < 2 && error instanceof RequestError && (error.isOffline || error.problem?.retryable === true),
    },
    mutations: { networkMode: "always" },
  },
});

export const meQuery = (key: string | null, project: string | null) =>
  queryOptions({
    queryKey: [key, "me", project],
    queryFn: () => bodyOf(GET("/v1/me", { params: { header: project === null ? {} : inProject(project) } })),
    enabled: key !== null,
  });

/** The privileges of the caller in a project. */
export const useMe = (project: string | null) => useQuery(meQuery(useSession().key, project));

export function useProjects() {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "projects"],
    queryFn: async () => (await bodyOf(GET("/v1/projects"))).projects,
    enabled: key !== null,
  });
}

export const templatesQuery = (key: string | null, project: string) =>
  queryOptions({
    queryKey: [key, "templates", project],
    queryFn: async () =>
      (await bodyOf(GET("/v1/templates", { params: { header: inProject(project) } }))).templates,
    enabled: key !== null,
    staleTime: 60_000,
  });

/** The templates of a project that are visible to the caller. */
export function useTemplates(project: string, isEnabled = true) {
  const { key } = useSession();
  return useQuery({ ...templatesQuery(key, project), enabled: key !== null && isEnabled });
}

/** A template of the project by its slug; undefined while loading or if none exists. */
export function useTemplate(project: string, slug: string): Template | undefined {
  return useTemplates(project).data?.find((template) => template.slug === slug);
}

/** The privileges of the caller on the records of a template. */
export function privileges(me: Me | undefined, project: string, template: string): Set<Privilege> {
  const entry = me?.templates.find((it) => it.template === `${project}.${template}`);
  return new Set(entry?.privileges ?? []);
}
