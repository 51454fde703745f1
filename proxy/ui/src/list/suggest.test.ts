import { expect, test } from "vitest";
import { completed, isCompletable, moveHighlight, usefulSuggestions } from "./suggest";

const of = (text: string) => ({ text, count: 1 });

test("suggestion replaces the last word", () => {
  expect(completed("girl ear", of("Earring"))).toBe("girl Earring");
  expect(completed("(gar", of("(garden"))).toBe("(garden");
  expect(completed("ear", of("Earring"))).toBe("Earring");
});

test("incomplete word is completed, finished word is not", () => {
  expect(["ea", "girl ea", "é\u0301a"].map(isCompletable)).toEqual([true, true, true]);
  expect(["", "e", "girl e", "girl "].map(isCompletable)).toEqual([false, false, false, false]);
});

test("typed word is not suggested", () => {
  expect(usefulSuggestions("girl", [of("Girl"), of("Girls")])).toEqual([of("Girls")]);
  expect(usefulSuggestions("the girl", [of("Girl")])).toEqual([]);
  expect(
    usefulSuggestions(
      "a",
      Array.from({ length: 20 }, (_, at) => of(`a${at}`)),
    ),
  ).toHaveLength(8);
});

test("arrow keys move from the field through the suggestions to the records", () => {
  expect(moveHighlight(null, "ArrowDown", 2)).toBe(0);
  expect(moveHighlight(0, "ArrowDown", 2)).toBe(1);
  expect(moveHighlight(1, "ArrowDown", 2)).toBe("records");
  expect(moveHighlight(null, "ArrowUp", 2)).toBe(1);
  expect(moveHighlight(1, "ArrowUp", 2)).toBe(0);
  expect(moveHighlight(0, "ArrowUp", 2)).toBe(null);
});
