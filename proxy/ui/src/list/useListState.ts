import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { decodeState, encodeState, queryWith, recordParts } from "./address";
import { rememberState } from "./remembered";
import type { ListState } from "./state";

/** Changes part of the state. `isStep` makes it a step that the browser's back button takes back. */
export type ChangeState = (change: Partial<ListState>, isStep?: boolean) => void;

/** The query of the list that is shown, without what belongs to the record over it. */
export const listQuery = (): string => queryWith([encodeState(decodeState(window.location.search))]);

/** A view of which nothing is left is no longer that view; its name stands for all that it says. */
const withoutEmptiedView = (state: ListState): ListState =>
  encodeState({ ...state, view: null }) === "" ? { ...state, view: null } : state;

/** The state of a list, which is only that of the address, so that a user who is given the address sees the same. */
export function useListState(project: string, template: string): [ListState, ChangeState] {
  const [, navigate] = useLocation();
  const query = useSearch();
  const state = useMemo(() => decodeState(query), [query]);

  const change = useCallback<ChangeState>(
    (change, isStep = false) => {
      // Two changes in one event both count: the address is asked, not the last rendering.
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
