/**
 * The pages of a long list that are far from what is seen keep only the names of their records. They are asked for again
 * when they come near, so a list takes as much memory at its thousandth page as at its twentieth.
 */
import type { SearchPage } from "../api/lists";
import type { RecordBody } from "../api/queries";

/** This many pages around what is seen keep the values of their records. */
export const WHOLE_PAGES = 20;
/** Pages beyond, before they are taken away several at once. */
const SPARE = 4;

type Unloaded = RecordBody & { isUnloaded?: true };

/** Whether the values of a record were unloaded. */
export const isUnloaded = (record: Unloaded): boolean => record.isUnloaded === true;

const unloaded = ({ id, external_key }: RecordBody): Unloaded => ({ id, external_key, isUnloaded: true });

/** The visible rows: the first, and the one after the last. */
export type Seen = { first: number; last: number };

const isUnloadedPage = ({ records }: SearchPage): boolean => records.some(isUnloaded);

/** The places of the first and the last page of which a row is seen. */
function seenPages(pages: readonly SearchPage[], { first, last }: Seen): [number, number] {
  let row = 0;
  let from = pages.length - 1;
  for (const [place, { records }] of pages.entries()) {
    if (row + records.length > first) from = Math.min(from, place);
    row += records.length;
    if (row >= last) return [from, place];
  }
  return [Math.max(from, 0), pages.length - 1];
}

/** The pages without the values of those that are far from what is seen; the same ones if there is nothing to take away. */
export function unloadPages(pages: SearchPage[], seen: Seen): SearchPage[] {
  const whole = pages.filter((page) => !isUnloadedPage(page)).length;
  if (whole <= WHOLE_PAGES + SPARE) return pages;
  const [from, to] = seenPages(pages, seen);
  const around = Math.floor((WHOLE_PAGES - (to - from + 1)) / 2);
  return pages.map((page, place) =>
    place < from - around || place > to + around ? { ...page, records: page.records.map(unloaded) } : page,
  );
}

/** The page that is to be asked for again: one that is seen, or else next to those that are. Null if there is none. */
export function missingPage(pages: readonly SearchPage[], seen: Seen): number | null {
  const [from, to] = seenPages(pages, seen);
  const seenPlaces = Array.from({ length: Math.max(to - from + 1, 0) }, (_, at) => from + at);
  const isMissing = (place: number) => pages[place] !== undefined && isUnloadedPage(pages[place]);
  return [...seenPlaces, to + 1, from - 1].find(isMissing) ?? null;
}

/**
 * The pages with the records of one as they are now. Those that the page after it has are left out: a page that lost
 * records is answered with more of what follows.
 */
export function withPage(pages: SearchPage[], place: number, now: SearchPage): SearchPage[] {
  const next = new Set(pages[place + 1]?.records.map(({ id }) => id));
  return pages.map((page, at) =>
    at === place ? { ...page, records: now.records.filter(({ id }) => !next.has(id)) } : page,
  );
}
