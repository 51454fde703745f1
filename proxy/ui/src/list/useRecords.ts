import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { answer, inProject, POST } from "../api/client";
import { listKey, type SearchPage } from "../api/lists";
import type { RecordBody } from "../api/queries";
import { isRanked, type ListState, type SearchBody, searchBody } from "./state";

const PAGE = 200;

export function search(
  project: string,
  template: string,
  body: SearchBody,
  signal?: AbortSignal,
): Promise<SearchPage> {
  const params = { path: { template }, header: inProject(project) };
  return answer(
    POST("/v1/entities/search/{template}", { params, body, ...(signal === undefined ? {} : { signal }) }),
  );
}

/** The records that match, page by page. While others are searched, the former stay. */
export function useRecords(project: string, template: string, state: ListState, fields: string[]) {
  const isOnePage = isRanked(state);
  const body: SearchBody = { ...searchBody(state), fields, verbose: true, limit: PAGE };
  const query = useInfiniteQuery({
    queryKey: [...listKey(project, template), body],
    queryFn: ({ pageParam, signal }) =>
      search(
        project,
        template,
        pageParam === null
          ? { ...body, ...(isOnePage ? {} : { count: "estimated" as const }) }
          : { ...body, cursor: pageParam },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (isOnePage ? null : page.next_cursor),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
  });
  return { query, body };
}

/** How many records match, counted one by one; asked for on demand. */
export function useExactCount(project: string, template: string, state: ListState, isAsked: boolean) {
  const { sort: _, ...body } = searchBody(state);
  return useQuery({
    queryKey: [...listKey(project, template), "count", body],
    queryFn: async ({ signal }) =>
      (await search(project, template, { ...body, fields: [], limit: 1, count: "exact" }, signal)).total,
    enabled: isAsked && !isRanked(state),
    staleTime: 60_000,
  });
}

export type Total = { value: number; isExact: boolean } | null;

/** What is known about the number of records that match. */
export function totalOf(pages: readonly SearchPage[], exact: number | null | undefined): Total {
  const last = pages.at(-1);
  if (last === undefined) return null;
  const loaded = pages.reduce((sum, page) => sum + page.records.length, 0);
  if (!last.has_more) return { value: loaded, isExact: true };
  if (typeof exact === "number") return { value: exact, isExact: true };
  const estimate = pages[0]?.total;
  return typeof estimate === "number" ? { value: Math.max(estimate, loaded), isExact: false } : null;
}

export const recordsOf = (pages: readonly SearchPage[]): RecordBody[] =>
  pages.length === 1 ? (pages[0]?.records ?? []) : pages.flatMap((page) => page.records);
