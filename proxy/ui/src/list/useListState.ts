import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { decodeState, encodeState, queryWith, recordParts } from "./address";
import { rememberState } from "./remembered";
import type { ListState } from "./state";

/** Changes part of the state. `isStep` adds an entry to the browser's history. */
export type ChangeState = (change: Partial<ListState>, isStep?: boolean) => void;

/** The query of the current list, without the parameters of the record in front of it. */
export const listQuery = (): string => queryWith([encodeState(decodeState(window.location.search))]);

/** Drops the name of a view if the state no longer contains anything of the view. */
const withoutEmptiedView = (state: ListState): ListState =>
  encodeState({ ...state, view: null }) === "" ? { ...state, view: null } : state;

/** The state of a list, which is entirely in the address, so that a shared address shows the same list. */
export function useListState(project: string, template: string): [ListState, ChangeState] {
  const [, navigate] = useLocation();
  const query = useSearch();
  const state = useMemo(() => decodeState(query), [query]);

  const change = useCallback<ChangeState>(
    (change, isStep = false) => {
      // Reads the address rather than the last render, so that two changes in one event both apply.
      const current = window.location.search.slice(1);
      const next = { ...decodeState(current), ...change };
      if (next.view === null && !next.isDeleted) rememberState(project, template, next);
      const parts = [encodeState(withoutEmptiedView(next)), recordParts(current)];
      navigate(window.location.pathname + queryWith(parts), { replace: !isStep });
    },
    [project, template, navigate],
  );
  return [state, change];
}
