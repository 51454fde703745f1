/** The records that lists show. What one place writes, every list shows at once. */
import type { InfiniteData } from "@tanstack/react-query";
import { currentSession } from "../session/session";
import type { Schemas } from "./client";
import { queryClient, type RecordBody } from "./queries";

export type SearchPage = Schemas["SearchResult"];

/** The beginning of the keys of all lists of a template. */
export const listKey = (project: string, template: string) => [
  currentSession().key,
  "list",
  project,
  template,
];

/** The key of the number of records beside the name of a template. It goes with the lists when they are refreshed. */
export const countKey = (project: string, template: string) => [...listKey(project, template), "rail"];

const isPaged = (data: unknown): data is InfiniteData<SearchPage> =>
  typeof data === "object" && data !== null && "pages" in data;

function change(project: string, template: string, changed: (records: RecordBody[]) => RecordBody[]) {
  queryClient.setQueriesData<InfiniteData<SearchPage> | object | number>(
    { queryKey: listKey(project, template) },
    (data) =>
      // Beside the pages of lists stand their counts and facets.
      isPaged(data)
        ? { ...data, pages: data.pages.map((page) => ({ ...page, records: changed(page.records) })) }
        : data,
  );
}

/** Shows a record as it is now, wherever it stands in a list. The record needs `attribute_values`. */
export function showInLists(project: string, template: string, record: RecordBody) {
  change(project, template, (records) =>
    records.map((it) => (it.id === record.id ? { ...it, ...record } : it)),
  );
}

/** Takes deleted records out of the lists of live ones. */
export function dropFromLists(project: string, template: string, ids: ReadonlySet<string>) {
  change(project, template, (records) => records.filter(({ id }) => !ids.has(id)));
  queryClient.invalidateQueries({ queryKey: countKey(project, template) });
  void queryClient.invalidateQueries({ queryKey: [...listKey(project, template), "count"] });
  void queryClient.invalidateQueries({
    queryKey: listKey(project, template),
    predicate: ({ queryKey: [, , , , body] }) =>
      typeof body === "object" && body !== null && "include_deleted" in body,
  });
}

/** Asks for the lists of a template again, as after a record was created or restored. */
export function refreshLists(project: string, template: string) {
  return queryClient.invalidateQueries({ queryKey: listKey(project, template) });
}
