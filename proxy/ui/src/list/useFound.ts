import { useCallback, useMemo, useRef, useState } from "react";
import { listKey } from "../api/lists";
import { queryClient, type Template } from "../api/queries";
import { type ListColumn, neededFields } from "./columns";
import { isRanked, type ListState, searchBody } from "./state";
import { recordsOf, totalOf, useExactCount, useRecords } from "./useRecords";

/** Fewer records than these are counted one by one unasked; of more, the estimate of the service stands. */
const QUICKLY_COUNTED = 20_000;

/** What a list has found, and what is still on its way. */
export function useFound(
  project: string,
  template: Template,
  state: ListState,
  columns: readonly ListColumn[],
) {
  const fields = useMemo(() => neededFields(template, columns), [template, columns]);
  const { query, body } = useRecords(project, template.slug, state, fields);
  // The search alone, whatever its order: another one is counted and selected anew.
  const searched = JSON.stringify({ ...searchBody(state), sort: null });
  const [counted, setCounted] = useState<string | null>(null);
  // What a failed search would replace stays as well.
  const last = useRef(query.data?.pages);
  if (query.data) last.current = query.data.pages;
  const isFailed = query.isError && !query.data;
  const pages = isFailed ? last.current : query.data?.pages;
  const estimate = query.isPlaceholderData || isFailed || !pages?.at(-1)?.has_more ? null : pages[0]?.total;
  const isSmall = typeof estimate === "number" && estimate < QUICKLY_COUNTED;
  const count = useExactCount(project, template.slug, state, counted === searched || isSmall);

  const records = useMemo(() => recordsOf(pages ?? []), [pages]);
  const total = useMemo(() => totalOf(pages ?? [], count.data), [pages, count.data]);
  const isOld = query.isPlaceholderData || isFailed;

  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isOld && !isFetchingNextPage && !isFetchNextPageError) fetchNextPage();
  }, [hasNextPage, isOld, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

  return {
    query,
    body,
    searched,
    records,
    /** Null while the number of another search is shown. */
    total: isOld ? null : total,
    /** The records are those of the search before. */
    isOld,
    isStopped: isOld && !query.isFetching && !query.isError,
    isEmpty: query.isSuccess && !isOld && records.length === 0,
    isSearching: query.isFetching && !isFetchingNextPage,
    isRanked: isRanked(state),
    /** The next page was refused. */
    isCutOff: isFetchNextPageError,
    isCounting: count.isFetching,
    count: () => setCounted(searched),
    more,
    moreAgain: () => void fetchNextPage(),
    again: () => void query.refetch(),
    stop: () => void queryClient.cancelQueries({ queryKey: listKey(project, template.slug) }),
  };
}

export type Found = ReturnType<typeof useFound>;
