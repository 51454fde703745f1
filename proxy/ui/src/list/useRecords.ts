import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { bodyOf, inProject, POST } from "../api/client";
import { listKey, type SearchPage } from "../api/lists";
import type { RecordBody } from "../api/queries";
import {
  isRanked,
  type ListState,
  listBody,
  pageBody,
  type SearchBody,
  type Searched,
  searchBody,
} from "./state";

export function search(
  project: string,
  template: string,
  body: SearchBody,
  signal?: AbortSignal,
): Promise<SearchPage> {
  const params = { path: { template }, header: inProject(project) };
  return bodyOf(
    POST("/v1/entities/search/{template}", { params, body, ...(signal === undefined ? {} : { signal }) }),
  );
}

/** The query key of the pages of a list. */
export const recordsKey = (project: string, template: string, body: SearchBody) => [
  ...listKey(project, template),
  body,
];

/** The pages of a list. Null requests all fields. */
export function recordsQuery(
  project: string,
  template: string,
  state: Searched,
  fields: readonly string[] | null,
) {
  const isOnePage = isRanked(state);
  const body = listBody(state, fields);
  return infiniteQueryOptions({
    queryKey: recordsKey(project, template, body),
    queryFn: ({ pageParam, signal }) =>
      search(project, template, pageBody(body, isOnePage, pageParam), signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: SearchPage) => (isOnePage ? null : page.next_cursor),
    staleTime: 60_000,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
  });
}

/** The matching records, page by page. During another search, the previous records stay. */
export function useRecords(
  project: string,
  template: string,
  state: ListState,
  fields: readonly string[] | null,
) {
  const options = recordsQuery(project, template, state, fields);
  return useInfiniteQuery({ ...options, placeholderData: keepPreviousData });
}

/** The records that match with a typo. They are not shown as placeholders during another search. */
export function useNearRecords(
  project: string,
  template: string,
  state: ListState,
  fields: readonly string[] | null,
  isEnabled: boolean,
) {
  const options = recordsQuery(project, template, { ...state, isNear: true }, fields);
  return useInfiniteQuery({ ...options, enabled: isEnabled });
}

/** The number of matching records: exact, or estimated by the planner of the database. */
export function useMatching(
  project: string,
  template: string,
  state: Searched,
  count: "estimated" | "exact",
  isEnabled: boolean,
) {
  const { sort: _, ...body } = searchBody(state);
  return useQuery({
    queryKey: [...listKey(project, template), "count", count, body],
    queryFn: async ({ signal }) =>
      (await search(project, template, { ...body, fields: [], limit: 1, count }, signal)).total,
    enabled: isEnabled && !isRanked(state),
    staleTime: 60_000,
  });
}

export type Total = { value: number; isExact: boolean } | null;

/** The known count of the matching records. */
export function totalOf(
  pages: readonly SearchPage[],
  estimate: number | null | undefined,
  exact: number | null | undefined,
): Total {
  const last = pages.at(-1);
  if (last === undefined) return null;
  const loaded = pages.reduce((sum, page) => sum + page.records.length, 0);
  if (!last.has_more) return { value: loaded, isExact: true };
  if (typeof exact === "number") return { value: exact, isExact: true };
  return typeof estimate === "number" ? { value: Math.max(estimate, loaded), isExact: false } : null;
}

export const recordsOf = (pages: readonly SearchPage[]): RecordBody[] =>
  pages.length === 1 ? (pages[0]?.records ?? []) : pages.flatMap((page) => page.records);
