import { useCallback, useMemo, useRef, useState } from "react";
import { useCount } from "../api/counts";
import { listKey } from "../api/lists";
import { queryClient, type Template } from "../api/queries";
import { useSettled } from "../api/settled";
import { type ListColumn, neededFields } from "./columns";
import { INITIAL, isRanked, type ListState, listBody, mayHaveTypo, type Searched, searchBody } from "./state";
import { recordsKey, recordsOf, totalOf, useMatching, useNearRecords, useRecords } from "./useRecords";

/** Up to this estimate, records are counted exactly without a request from the user. */
const MAX_EXACT_COUNT = 20_000;

const searchedBy = (state: Searched): string => JSON.stringify({ ...searchBody(state), sort: null });
const EVERYTHING = searchedBy(INITIAL);

/** The results of a list, and its pending requests. */
export function useFound(
  project: string,
  template: Template,
  state: ListState,
  columns: readonly ListColumn[],
) {
  const fields = useMemo(() => neededFields(template, columns), [template, columns]);
  const asTyped = useRecords(project, template.slug, state, fields);
  const hasNoResults =
    asTyped.data !== undefined && !asTyped.isPlaceholderData && recordsOf(asTyped.data.pages).length === 0;
  // A search that tolerates typos is expensive, so it does not run for each keystroke.
  const isPaused = useSettled(searchedBy(state));
  const needsNear = hasNoResults && isPaused && mayHaveTypo(state);
  const near = useNearRecords(project, template.slug, state, fields, needsNear);
  const isNear = hasNoResults && near.data !== undefined && recordsOf(near.data.pages).length > 0;
  const query = isNear ? near : asTyped;
  // The count, saved views and exports use the search whose results are shown.
  const shown = useMemo((): Searched => (isNear ? { ...state, isNear } : state), [state, isNear]);
  const body = useMemo(() => listBody(shown, fields), [shown, fields]);
  const { slug } = template;
  const key = useMemo(() => recordsKey(project, slug, body), [project, slug, body]);
  // Only the search, without its order. Each search has a separate count and selection.
  const searched = searchedBy(shown);
  const [counted, setCounted] = useState<string | null>(null);
  // The previous results stay until the next search responds, or if it fails.
  const isFailed = query.isError && !query.data;
  // "No matching records" appears only after the search that tolerates typos has ended.
  const isUndecided =
    hasNoResults && mayHaveTypo(state) && near.data === undefined && (!isPaused || near.isFetching);
  const isOld = query.isPlaceholderData || isFailed || isUndecided;
  const current = isOld ? undefined : query.data?.pages;
  const last = useRef(current);
  if (current) last.current = current;
  const pages = current ?? last.current;

  // The count and the next page are requested when the user stops typing.
  const isSettled = useSettled(`${searched} ${isOld}`) && !isOld;
  const isUnknown = isSettled && pages?.at(-1)?.has_more === true;
  const isWhole = searched === EVERYTHING;
  const ofTemplate = useCount(project, template.slug, isWhole && isUnknown);
  const ofSearch = useMatching(project, template.slug, shown, "estimated", !isWhole && isUnknown).data;
  const estimate = isWhole ? ofTemplate : ofSearch;
  const isSmall = isUnknown && typeof estimate === "number" && estimate < MAX_EXACT_COUNT;
  const count = useMatching(project, template.slug, shown, "exact", counted === searched || isSmall);

  const records = useMemo(() => recordsOf(pages ?? []), [pages]);
  const total = useMemo(() => totalOf(pages ?? [], estimate, count.data), [pages, estimate, count.data]);

  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = query;
  const more = useCallback(() => {
    if (hasNextPage && isSettled && !isFetchingNextPage && !isFetchNextPageError) fetchNextPage();
  }, [hasNextPage, isSettled, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

  return {
    query,
    shown,
    /** The corrected words, if no record contains the typed ones. */
    near: isNear ? { meant: near.data?.pages[0]?.did_you_mean ?? null } : null,
    body,
    /** The records of all loaded pages. */
    key,
    searched,
    records,
    /** Null while the count of another search is shown. */
    total: isOld ? null : total,
    /** The records belong to the previous search. */
    isOld,
    isSettled,
    isStopped: isOld && !isUndecided && !query.isFetching && !query.isError,
    isEmpty: query.isSuccess && !isOld && records.length === 0,
    isSearching: (query.isFetching || near.isFetching) && !isFetchingNextPage,
    isRanked: isRanked(state),
    /** The next page could not be loaded. */
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
