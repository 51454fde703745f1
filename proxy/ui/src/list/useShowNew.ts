import { type RefObject, useCallback, useEffect, useState } from "react";
import { refreshLists } from "../api/lists";
import { showToast } from "../components/toast";
import { messages } from "../language";
import type { GridHandle } from "./Grid";
import type { Live } from "./live";
import type { Found } from "./useFound";

const t = messages.list;

/** Shows the new records of a list on request, or immediately if the list is empty. */
export function useShowNew(
  project: string,
  template: string,
  { records, isEmpty, query }: Found,
  { fresh }: Live,
  grid: RefObject<GridHandle | null>,
): () => void {
  const [awaited, setAwaited] = useState<ReadonlySet<string> | null>(null);
  const { isRefetching, isError } = query;

  const isFirst = isEmpty && fresh.size > 0;
  useEffect(() => {
    if (isFirst) void refreshLists(project, template);
  }, [isFirst, project, template]);

  useEffect(() => {
    if (awaited === null || isRefetching) return;
    setAwaited(null);
    // The list shows the error.
    if (isError) return;
    const first = records.find(({ id }) => awaited.has(id));
    grid.current?.focus(first?.id);
    if (first === undefined) showToast(t.newFurther);
  }, [awaited, isRefetching, isError, records, grid]);

  return useCallback(() => {
    void refreshLists(project, template).then(() => setAwaited(fresh));
  }, [project, template, fresh]);
}
