/** Converts between saved views and lists. */
import type { Template, View } from "../api/queries";
import { conditionsOfSearch } from "../filter/condition";
import { bySlug, type SavedSearch } from "../filter/view";
import { allColumns } from "./columns";
import type { SortBy } from "./sort";
import { INITIAL, type ListState, OF_PROJECT, type Searched, searchBody } from "./state";

function sortOf(sort: View["query"]["sort"]): SortBy[] {
  const parts = typeof sort === "string" ? sort.split(",") : (sort ?? []);
  return parts.flatMap((part) => {
    if (typeof part !== "string") return [{ field: part.field, isDescending: part.direction === "desc" }];
    const name = part.trim();
    return name === "" ? [] : [{ field: name.replace(/^-/, ""), isDescending: name.startsWith("-") }];
  });
}

/** Days in a view are in the time zone that the view specifies, or else the project's, regardless of the user's. */
export const zoneOfView = ({ query }: View): string => query.time_zone ?? OF_PROJECT;

/** The state of a list that shows the view. */
export function stateOfView(view: View, template: Template): ListState {
  const query = bySlug(view.query, [template]);
  const { fields, mode, global_search: words, query_text: meaning } = query;
  const names = typeof fields === "string" ? fields.split(",").map((name) => name.trim()) : fields;
  const known = new Set(allColumns(template).map(({ id }) => id));
  const columns = names?.filter((name) => known.has(name)).map((id) => ({ id }));
  return {
    ...INITIAL,
    view: view.slug,
    search: words ?? meaning ?? "",
    mode: meaning === undefined || mode === "keyword" ? "words" : mode === "semantic" ? "meaning" : "both",
    conditions: conditionsOfSearch(query),
    timeZone: zoneOfView(view),
    sort: sortOf(query.sort),
    columns: columns === undefined || columns.length === 0 ? null : columns,
  };
}

/** The search that saves the state of a list. Columns are saved only if the user has chosen them. */
export function savedSearch(state: Searched): SavedSearch {
  const search = searchBody({ ...state, start: null });
  return state.columns === null ? search : { ...search, fields: state.columns.map(({ id }) => id) };
}
