/** Queries for administrators. A service without a route returns null for it. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useSession } from "../session/session";
import { bodyOf, GET, inProject, type Schemas } from "./client";
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

/** The response body, or null if the service has no such route. */
async function nullIfMissing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return null;
    throw error;
  }
}

type Options = {
  isPolled?: boolean;
  /** The response is slow, so the application requests it only when the user asks for it. */
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
    queryFn: () => nullIfMissing(read()),
    enabled: key !== null,
    ...(isCostly && { staleTime: Number.POSITIVE_INFINITY }),
    // A missing route is not requested again.
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
      (page) => bodyOf(GET("/v1/api-keys", paged(project, page))),
      ({ api_keys }) => api_keys,
    ),
  );

export const useRoles = (project: string) => useAdministration("roles", project, () => readRoles(project));

/** All roles for which keys can be issued. */
export const readRoles = (project: string) =>
  allPages(
    (page) => bodyOf(GET("/v1/roles", paged(project, page))),
    ({ roles }) => roles,
  );

/** All grants, because changing one involves the others of its role and target. */
export const useGrants = (project: string) =>
  useAdministration("grants", project, () =>
    allPages(
      (page) => bodyOf(GET("/v1/grants", paged(project, page))),
      ({ grants }) => grants,
    ),
  );

export const useQuotas = (project: string) =>
  useAdministration("quotas", project, async () => (await bodyOf(GET("/v1/quotas", params(project)))).quotas);

export const useJobs = (project: string) =>
  useAdministration("jobs", project, async () => (await bodyOf(GET("/v1/jobs", params(project)))).jobs, {
    isPolled: true,
  });

export const useEmbeddingStatus = (project: string) =>
  useAdministration(
    "embeddings",
    project,
    async () => (await bodyOf(GET("/v1/embeddings/status", params(project)))).templates,
    { isPolled: true },
  );

export const useEmbeddingFailures = (project: string) =>
  useAdministration(
    "embedding-failures",
    project,
    async () => (await bodyOf(GET("/v1/embeddings/failures", params(project)))).failures,
    { isPolled: true },
  );

export const useExamination = (project: string) =>
  useAdministration("doctor", project, () => bodyOf(GET("/v1/doctor", params(project))), { isCostly: true });

/** Reloads all administration data after a change. */
export const readAdministrationAgain = () =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "administration" });
