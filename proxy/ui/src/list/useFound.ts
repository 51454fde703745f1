import { useCallback, useMemo, useRef, useState } from "react";
import { useCount } from "../api/counts";
import { listKey } from "../api/lists";
import { queryClient, type Template } from "../api/queries";
import { useSettled } from "../api/settled";
import { type ListColumn, neededFields } from "./columns";
import { INITIAL, isRanked, type ListState, listBody, searchBody } from "./state";
import { recordsOf, totalOf, useMatching, useRecords } from "./useRecords";

/** Fewer records than these are counted one by one unasked; of more, the estimate of the service stands. */
const QUICKLY_COUNTED = 20_000;

const searchedBy = (state: ListState): string => JSON.stringify({ ...searchBody(state), sort: null });
const EVERYTHING = searchedBy(INITIAL);

/** What a list has found, and what is still on its way. */
export function useFound(
  project: string,
  template: Template,
  state: ListState,
  columns: readonly ListColumn[],
) {
  const fields = useMemo(() => neededFields(template, columns), [template, columns]);
  const query = useRecords(project, template.slug, state, fields);
  const body = useMemo(() => listBody(state, fields), [state, fields]);
  // The search alone, whatever its order: another one is counted and selected anew.
  const searched = searchedBy(state);
  const [counted, setCounted] = useState<string | null>(null);
  // What a failed search would replace stays as well.
  const last = useRef(query.data?.pages);
  if (query.data) last.current = query.data.pages;
  const isFailed = query.isError && !query.data;
  const pages = isFailed ? last.current : query.data?.pages;
  const isOld = query.isPlaceholderData || isFailed;

  // Neither the number nor the next page is in the way of who types.
  const isSettled = useSettled(`${searched} ${isOld}`) && !isOld;
  const isUnknown = isSettled && pages?.at(-1)?.has_more === true;
  const isWhole = searched === EVERYTHING;
  const ofTemplate = useCount(project, template.slug, isWhole && isUnknown);
  const ofSearch = useMatching(project, template.slug, state, "estimated", !isWhole && isUnknown).data;
  const estimate = isWhole ? ofTemplate : ofSearch;
  const isSmall = isUnknown && typeof estimate === "number" && estimate < QUICKLY_COUNTED;
  const count = useMatching(project, template.slug, state, "exact", counted === searched || isSmall);

  const records = useMemo(() => recordsOf(pages ?? []), [pages]);
  const total = useMemo(() => totalOf(pages ?? [], estimate, count.data), [pages, estimate, count.data]);

  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = query;
  const more = useCallback(() => {
    if (hasNextPage && isSettled && !isFetchingNextPage && !isFetchNextPageError) fetchNextPage();
  }, [hasNextPage, isSettled, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

  return {
    query,
    body,
    searched,
    records,
    /** Null while the number of another search is shown. */
    total: isOld ? null : total,
    /** The records are those of the search before. */
    isOld,
    isSettled,
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
