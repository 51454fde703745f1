/**
 * Pages of a long list that are far from the visible rows keep only the names of their records. They are requested again
 * when they come near, so the memory of a list does not grow with its length.
 */
import type { SearchPage } from "../api/lists";
import type { RecordBody } from "../api/queries";

/** This many pages around the visible ones keep their values. */
export const WHOLE_PAGES = 20;
/** Extra pages that may stay loaded, so that several are unloaded together. */
const EXTRA = 4;

type Unloaded = RecordBody & { isUnloaded?: true };

/** Whether the values of a record were unloaded. */
export const isUnloaded = (record: Unloaded): boolean => record.isUnloaded === true;

const unloaded = ({ id, external_key }: RecordBody): Unloaded => ({ id, external_key, isUnloaded: true });

/** The visible rows: the first, and the one after the last. */
export type Seen = { first: number; last: number };

const isUnloadedPage = ({ records }: SearchPage): boolean => records.some(isUnloaded);

/** The indexes of the first and the last page with a visible row. */
function seenPages(pages: readonly SearchPage[], { first, last }: Seen): [number, number] {
  let row = 0;
  let from = pages.length - 1;
  for (const [index, { records }] of pages.entries()) {
    if (row + records.length > first) from = Math.min(from, index);
    row += records.length;
    if (row >= last) return [from, index];
  }
  return [Math.max(from, 0), pages.length - 1];
}

/** The pages without the values of distant ones; the same object if there is nothing to unload. */
export function unloadPages(pages: SearchPage[], seen: Seen): SearchPage[] {
  const whole = pages.filter((page) => !isUnloadedPage(page)).length;
  if (whole <= WHOLE_PAGES + EXTRA) return pages;
  const [from, to] = seenPages(pages, seen);
  const around = Math.floor((WHOLE_PAGES - (to - from + 1)) / 2);
  return pages.map((page, index) =>
    index < from - around || index > to + around ? { ...page, records: page.records.map(unloaded) } : page,
  );
}

/** The page to load again: a visible one, or else one next to it. Null if there is none. */
export function missingPage(pages: readonly SearchPage[], seen: Seen): number | null {
  const [from, to] = seenPages(pages, seen);
  const visiblePages = Array.from({ length: Math.max(to - from + 1, 0) }, (_, at) => from + at);
  const isMissing = (index: number) => pages[index] !== undefined && isUnloadedPage(pages[index]);
  return [...visiblePages, to + 1, from - 1].find(isMissing) ?? null;
}

/**
 * Replaces a page by its reloaded version. Records that the following page contains are left out: if a page lost records,
 * the response has the next ones in their place.
 */
export function withPage(pages: SearchPage[], index: number, now: SearchPage): SearchPage[] {
  const next = new Set(pages[index + 1]?.records.map(({ id }) => id));
  return pages.map((page, at) =>
    at === index ? { ...page, records: now.records.filter(({ id }) => !next.has(id)) } : page,
  );
}
