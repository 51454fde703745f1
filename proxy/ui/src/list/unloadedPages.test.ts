import { expect, test } from "vitest";
import type { SearchPage } from "../api/lists";
import { isUnloaded, missingPage, unloadPages, WHOLE_PAGES, withPage } from "./unloadedPages";

const SIZE = 10;
const record = (row: number) => ({
  id: `r${row}`,
  external_key: `erp:${row}`,
  attributes: { name: `Name ${row}` },
});
const page = (index: number): SearchPage =>
  ({
    records: Array.from({ length: SIZE }, (_, at) => record(index * SIZE + at)),
    next_cursor: `c${index}`,
    has_more: true,
  }) as unknown as SearchPage;
const pages = (count: number) => Array.from({ length: count }, (_, index) => page(index));
const rowsOfPage = (index: number) => ({ first: index * SIZE, last: (index + 1) * SIZE });
const wholeOf = (all: SearchPage[]) =>
  all.flatMap(({ records }, index) => (records.some(isUnloaded) ? [] : [index]));

test("short list keeps all its values", () => {
  const few = pages(WHOLE_PAGES);
  expect(unloadPages(few, rowsOfPage(0))).toBe(few);
});

test("long list keeps values around the visible rows", () => {
  const thin = unloadPages(pages(100), rowsOfPage(50));
  const whole = wholeOf(thin);
  expect(whole.length).toBeLessThanOrEqual(WHOLE_PAGES);
  expect(whole).toContain(50);
  expect(whole).toContain(45);
  expect(whole).toContain(55);
  expect(thin.flatMap(({ records }) => records.map(({ id }) => id))).toEqual(
    pages(100).flatMap(({ records }) => records.map(({ id }) => id)),
  );
  expect(thin[0]?.records[0]).toEqual({ id: "r0", external_key: "erp:0", isUnloaded: true });
});

test("visible page is loaded before its neighbors", () => {
  const thin = unloadPages(pages(100), rowsOfPage(99));
  expect(missingPage(thin, rowsOfPage(99))).toBeNull();
  expect(missingPage(thin, { first: 15, last: 35 })).toBe(1);
  const filled = [1, 2, 3].reduce((all, index) => withPage(all, index, page(index)), thin);
  expect(missingPage(filled, { first: 15, last: 35 })).toBe(4);
  const below = withPage(filled, 4, page(4));
  expect(missingPage(below, { first: 15, last: 35 })).toBe(0);
});

test("reloaded page has no record of the next page", () => {
  const thin = unloadPages(pages(100), rowsOfPage(99));
  const shorter = { ...page(3), records: [...page(3).records.slice(1), record(40)] } as SearchPage;
  const back = withPage(thin, 3, shorter);
  expect(back[3]?.records.map(({ id }) => id)).toEqual(
    page(3)
      .records.slice(1)
      .map(({ id }) => id),
  );
  expect(back[3]?.next_cursor).toBe("c3");
  expect(back[4]).toBe(thin[4]);
});

test("empty list has no page to load", () => {
  expect(missingPage([], { first: 0, last: 0 })).toBeNull();
  expect(missingPage([{ ...page(0), records: [] }], { first: 0, last: 0 })).toBeNull();
});
