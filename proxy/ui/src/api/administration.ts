/** What administrators read. A service that does not serve a route yet answers null. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useSession } from "../session/session";
import { answer, GET, inProject, type Schemas } from "./client";
import { allPages, type PageQuery } from "./pages";
import { RequestError } from "./problem";
import { queryClient } from "./queries";

export type ApiKey = Schemas["ApiKey"];
export type Role = Schemas["Roles"]["roles"][number];
export type Grant = Schemas["Grant"];
export type Quota = Schemas["Quota"];
export type Job = Schemas["Jobs"]["jobs"][number];
export type Examination = Schemas["Examination"];
export type Finding = Examination["findings"][number];

/** The answer, or null where the service has no such route. */
async function ifServed<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return null;
    throw error;
  }
}

type Options = {
  isPolled?: boolean;
  /** The response takes the service a while, so the application asks for it only when the user wants it. */
  isCostly?: boolean;
};
const POLL = 3_000;

function useAdministration<T>(
  name: string,
  project: string,
  read: () => Promise<T>,
  { isPolled = false, isCostly = false }: Options = {},
): UseQueryResult<T | null> {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "administration", project, name],
    queryFn: () => ifServed(read()),
    enabled: key !== null,
    ...(isCostly && { staleTime: Number.POSITIVE_INFINITY }),
    // What is not served is not asked for again.
    refetchInterval: ({ state }) => (isPolled && state.data !== null ? POLL : false),
  });
}

const params = (project: string) => ({ params: { header: inProject(project) } });

const paged = (project: string, page: PageQuery) => ({
  params: { header: inProject(project), query: page },
});

export const useApiKeys = (project: string) =>
  useAdministration("keys", project, () =>
    allPages(
      (page) => answer(GET("/v1/api-keys", paged(project, page))),
      ({ api_keys }) => api_keys,
    ),
  );

export const useRoles = (project: string) => useAdministration("roles", project, () => readRoles(project));

/** All roles that keys can be issued for. */
export const readRoles = (project: string) =>
  allPages(
    (page) => answer(GET("/v1/roles", paged(project, page))),
    ({ roles }) => roles,
  );

/** All grants: a change of some takes the others of their role and target into account. */
export const useGrants = (project: string) =>
  useAdministration("grants", project, () =>
    allPages(
      (page) => answer(GET("/v1/grants", paged(project, page))),
      ({ grants }) => grants,
    ),
  );

export const useQuotas = (project: string) =>
  useAdministration("quotas", project, async () => (await answer(GET("/v1/quotas", params(project)))).quotas);

export const useJobs = (project: string) =>
  useAdministration("jobs", project, async () => (await answer(GET("/v1/jobs", params(project)))).jobs, {
    isPolled: true,
  });

export const useEmbeddingStatus = (project: string) =>
  useAdministration(
    "embeddings",
    project,
    async () => (await answer(GET("/v1/embeddings/status", params(project)))).templates,
    { isPolled: true },
  );

export const useEmbeddingFailures = (project: string) =>
  useAdministration(
    "embedding-failures",
    project,
    async () => (await answer(GET("/v1/embeddings/failures", params(project)))).failures,
    { isPolled: true },
  );

export const useExamination = (project: string) =>
  useAdministration("doctor", project, () => answer(GET("/v1/doctor", params(project))), { isCostly: true });

/** Reads all of it again after a change. */
export const readAdministrationAgain = () =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "administration" });
