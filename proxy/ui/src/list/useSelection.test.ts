import { expect, test } from "vitest";
import { pressed, type Selection } from "./useSelection";

const records = ["a", "b", "c", "d", "e"].map((id) => ({ id }));
const of = (...ids: string[]): Selection => ({ ids: new Set(ids), isAll: false });
const ids = (selection: Selection) => [...selection.ids].sort().join("");

test("click toggles a row", () => {
  expect(ids(pressed(of(), records, 1, null))).toBe("b");
  expect(ids(pressed(of("b"), records, 1, null))).toBe("");
});

test("Shift selects the rows from the last clicked one, in either direction", () => {
  expect(ids(pressed(of("b"), records, 3, 1))).toBe("bcd");
  expect(ids(pressed(of("d"), records, 0, 3))).toBe("abcd");
});

test("range deselects like its first row", () => {
  expect(ids(pressed(of("a", "c", "d"), records, 3, 1))).toBe("a");
});

test("deselecting one of all rows keeps the loaded rows", () => {
  const selection = pressed({ ids: new Set(), isAll: true }, records, 2, null);
  expect(selection.isAll).toBe(false);
  expect(ids(selection)).toBe("abde");
});
