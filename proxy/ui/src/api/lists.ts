/** The cached records of lists. A write in one component updates every list immediately. */
import type { InfiniteData } from "@tanstack/react-query";
import { currentSession } from "../session/session";
import type { Schemas } from "./client";
import { queryClient, type RecordBody } from "./queries";

export type SearchPage = Schemas["SearchResult"];

/** The common query-key prefix of all lists of a template. */
export const listKey = (project: string, template: string) => [
  currentSession().key,
  "list",
  project,
  template,
];

/** The query key of the count next to the name of a template. It is refreshed with the lists. */
export const countKey = (project: string, template: string) => [...listKey(project, template), "rail"];

const isPaged = (data: unknown): data is InfiniteData<SearchPage> =>
  typeof data === "object" && data !== null && "pages" in data;

function change(project: string, template: string, changed: (records: RecordBody[]) => RecordBody[]) {
  queryClient.setQueriesData<InfiniteData<SearchPage> | object | number>(
    { queryKey: listKey(project, template) },
    (data) =>
      // Counts and facets share the key prefix, but are not pages of records.
      isPaged(data)
        ? { ...data, pages: data.pages.map((page) => ({ ...page, records: changed(page.records) })) }
        : data,
  );
}

/** Replaces a record in every list. The record needs `attribute_values`. */
export function showInLists(project: string, template: string, record: RecordBody) {
  change(project, template, (records) =>
    records.map((it) => (it.id === record.id ? { ...it, ...record } : it)),
  );
}

/** Removes deleted records from the lists of live records. */
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

/** Reloads the lists of a template, for example after a record was created or restored. */
export function refreshLists(project: string, template: string) {
  return queryClient.invalidateQueries({ queryKey: listKey(project, template) });
}
