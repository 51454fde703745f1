import { expect, test } from "vitest";
import { gridAction, type Key } from "./gridKeys";

const size = { rows: 200, cells: 5, page: 20 };
const press = (key: string, row: number, cell = 2, more: Partial<Key> = {}) =>
  gridAction(
    { key, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...more },
    { row, cell },
    size,
  );
const moved = (row: number, cell: number, isSelecting = false) => ({
  kind: "move",
  to: { row, cell },
  isSelecting,
});

test("arrow keys stop at the edges", () => {
  expect(press("ArrowDown", 3)).toEqual(moved(4, 2));
  expect(press("ArrowDown", 199)).toEqual(moved(199, 2));
  expect(press("ArrowRight", 3, 4)).toEqual(moved(3, 4));
  expect(press("PageUp", 5)).toEqual(moved(0, 2));
});

test("Enter sorts in the header above the first row", () => {
  expect(press("ArrowUp", 0)).toEqual(moved(-1, 2));
  expect(press("Enter", -1)).toEqual({ kind: "sort", isAdded: false });
  expect(press("Enter", -1, 2, { shiftKey: true })).toEqual({ kind: "sort", isAdded: true });
  expect(press("ArrowRight", -1, 2, { altKey: true })).toEqual({ kind: "resize", by: 16 });
});

test("Enter opens, Space selects, Shift+Space selects a range", () => {
  expect(press("Enter", 3)).toEqual({ kind: "open" });
  expect(press(" ", 3)).toEqual({ kind: "select", isRange: false });
  expect(press(" ", 3, 2, { shiftKey: true })).toEqual({ kind: "select", isRange: true });
  expect(press("ArrowDown", 3, 2, { shiftKey: true })).toEqual(moved(4, 2, true));
});

test("grid ignores letters that are shortcuts of the page", () => {
  expect(press("f", 3)).toBeNull();
  expect(press("/", 3)).toBeNull();
  expect(press("ArrowLeft", 3, 2, { altKey: true })).toBeNull();
});
