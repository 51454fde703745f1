/** What a list is sorted by, and the value at which it begins. */
import type { Condition } from "../filter/condition";

export type SortBy = { field: string; isDescending: boolean };

/** The most fields that the service sorts by. */
export const MAX_SORTS = 5;

/**
 * The sort after a press on a header: none → ascending → descending → none. With `isAdded`, the other fields stay and
 * this one comes after them.
 */
export function pressedSort(sort: readonly SortBy[], field: string, isAdded: boolean): SortBy[] {
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
  /** The value of the first sort field at which the list begins, as the service takes it; null for its beginning. */
  start: string | null;
  isDeleted: boolean;
};

/** The list in another order. It begins at the same value if it is sorted by the same field. */
export const withSort = ({ sort, start }: Sorted, next: SortBy[]): Pick<Sorted, "sort" | "start"> => ({
  sort: next,
  start: next[0]?.field === sort[0]?.field ? start : null,
});

/** The list from its other end. Without a sort, a list has the newest first, or those that were deleted last. */
export function reversed({ sort, isDeleted }: Sorted): Pick<Sorted, "sort" | "start"> {
  const first: SortBy[] = [{ field: isDeleted ? "deleted_at" : "created_at", isDescending: true }];
  const current = sort.length === 0 ? first : sort;
  return { sort: current.map((it) => ({ ...it, isDescending: !it.isDescending })), start: null };
}

/** What the records from the start on have in common; none for a list from its beginning. */
export function startConditions({ sort: [by], start }: Sorted): Condition[] {
  if (by === undefined || start === null) return [];
  return [{ field: by.field, operator: by.isDescending ? "lte" : "gte", value: start }];
}
