/** What a saved view makes of a list. */
import type { Template, View } from "../api/queries";
import type { Condition } from "../filter/condition";
import { allColumns } from "./columns";
import { INITIAL, type ListState, type SortBy } from "./state";

function sortOf(sort: View["query"]["sort"]): SortBy[] {
  const parts = typeof sort === "string" ? sort.split(",") : (sort ?? []);
  return parts.flatMap((part) => {
    if (typeof part !== "string") return [{ field: part.field, isDescending: part.direction === "desc" }];
    const name = part.trim();
    return name === "" ? [] : [{ field: name.replace(/^-/, ""), isDescending: name.startsWith("-") }];
  });
}

function conditionsOf({ filters = [], filter_groups: groups = [] }: View["query"]): Condition[] {
  const all = groups.map((group): Condition => {
    const parts = (Array.isArray(group) ? group : [group]) as Condition[];
    const [only] = parts;
    return parts.length === 1 && only ? only : { and: parts };
  });
  const [one] = all;
  const group: Condition[] = all.length > 1 ? [{ or: all }] : one ? [one] : [];
  return [...(filters as Condition[]), ...group];
}

/** A list that shows what the view says, in parts that can be changed. */
export function stateOfView(view: View, template: Template): ListState {
  const { fields, mode, global_search: words, query_text: meaning } = view.query;
  const names = typeof fields === "string" ? fields.split(",").map((name) => name.trim()) : fields;
  const known = new Set(allColumns(template).map(({ id }) => id));
  const columns = names?.filter((name) => known.has(name)).map((id) => ({ id }));
  return {
    ...INITIAL,
    view: view.slug,
    search: words ?? meaning ?? "",
    mode: meaning === undefined || mode === "keyword" ? "words" : mode === "semantic" ? "meaning" : "both",
    conditions: conditionsOf(view.query),
    sort: sortOf(view.query.sort),
    columns: columns === undefined || columns.length === 0 ? null : columns,
  };
}
