import { type InfiniteData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { SearchPage } from "../api/lists";
import { queryClient } from "../api/queries";
import { pageBody } from "./state";
import { isUnloaded, missingPage, type Seen, unloadPages, withPage } from "./unloadedPages";
import type { Found } from "./useFound";
import { search } from "./useRecords";

type Pages = InfiniteData<SearchPage, string | null>;

/** Keeps the time of the data, because unloading pages does not make it newer. */
const put = (key: readonly unknown[], pages: SearchPage[], data: Pages) =>
  queryClient.setQueryData<Pages>(
    key,
    { ...data, pages },
    { updatedAt: queryClient.getQueryState(key)?.dataUpdatedAt },
  );

/**
 * Unloads distant pages of a long list, and reloads the values of visible records.
 * @param seen the visible rows; null if unknown, so that all records must stay loaded
 */
export function useUnloadedPages(project: string, template: string, found: Found, seen: Seen | null) {
  const { key, body, isOld } = found;
  const data = isOld ? undefined : (found.query.data as Pages | undefined);
  const index = data === undefined || seen === null ? null : missingPage(data.pages, seen);
  const cursor = index === null ? null : (data?.pageParams[index] ?? null);
  const missing = useQuery({
    queryKey: [...key, "page", index === null ? "none" : cursor],
    queryFn: ({ signal }) => search(project, template, pageBody(body, false, cursor), signal),
    enabled: index !== null,
    gcTime: 0,
  });

  useEffect(() => {
    if (data === undefined) return;
    if (seen === null) {
      if (data.pages.some(({ records }) => records.some(isUnloaded)))
        void queryClient.resetQueries({ queryKey: key, exact: true });
      return;
    }
    const thinner = unloadPages(data.pages, seen);
    if (thinner !== data.pages) put(key, thinner, data);
  }, [data, seen, key]);

  const now = missing.data;
  useEffect(() => {
    if (now !== undefined && index !== null && data !== undefined)
      put(key, withPage(data.pages, index, now), data);
  }, [now, index, data, key]);

  return missing;
}
