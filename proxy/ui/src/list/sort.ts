/** The sort of a list, and the value at which the list starts. */
import type { Condition } from "../filter/condition";

export type SortBy = { field: string; isDescending: boolean };

/** The maximum number of sort fields of the service. */
export const MAX_SORTS = 5;

/**
 * The sort after a click on a header: none → ascending → descending → none. With `isAdded`, the field is added after
 * the other ones.
 */
export function sortAfterClick(sort: readonly SortBy[], field: string, isAdded: boolean): SortBy[] {
  const current = sort.find((it) => it.field === field);
  const next: SortBy[] =
    current === undefined
      ? [{ field, isDescending: false }]
      : current.isDescending
        ? []
        : [{ field, isDescending: true }];
  if (!isAdded) return next;
  if (current === undefined) return [...sort, ...next].slice(-MAX_SORTS);
  return sort.flatMap((it) => (it.field === field ? next : [it]));
}

export const sortText = (sort: readonly SortBy[]): string =>
  sort.map(({ field, isDescending }) => (isDescending ? `-${field}` : field)).join(",");

type Sorted = {
  sort: SortBy[];
  /** The value of the first sort field at which the list starts, as the service expects it; null for its beginning. */
  start: string | null;
  isDeleted: boolean;
};

/** The list with another sort. It keeps its start value if the first field is the same. */
export const withSort = ({ sort, start }: Sorted, next: SortBy[]): Pick<Sorted, "sort" | "start"> => ({
  sort: next,
  start: next[0]?.field === sort[0]?.field ? start : null,
});

/** The list in reverse order. Without a sort, a list shows the newest or most recently deleted records first. */
export function reversed({ sort, isDeleted }: Sorted): Pick<Sorted, "sort" | "start"> {
  const first: SortBy[] = [{ field: isDeleted ? "deleted_at" : "created_at", isDescending: true }];
  const current = sort.length === 0 ? first : sort;
  return { sort: current.map((it) => ({ ...it, isDescending: !it.isDescending })), start: null };
}

/** The condition that all records from the start value on satisfy; none for a list from its beginning. */
export function startConditions({ sort: [by], start }: Sorted): Condition[] {
  if (by === undefined || start === null) return [];
  return [{ field: by.field, operator: by.isDescending ? "lte" : "gte", value: start }];
}
