import { expect, test } from "vitest";
import { areSynonymsAlike, isInLines, lineOf, linesOf, setsOf } from "./synonyms";

const sets = [{ synonyms: ["car", "motor car"] }, { root: "phone", synonyms: ["smartphone", "iPhone"] }];
const lines = "car, motor car\nphone > smartphone, iPhone";

test("each line is a set", () => {
  expect(setsOf(lines)).toEqual(sets);
  expect(linesOf(sets)).toBe(lines);
  expect(setsOf(" car ,, auto \n\n >x")).toEqual([
    { synonyms: ["car", "auto"] },
    { root: "", synonyms: ["x"] },
  ]);
  expect(areSynonymsAlike(lines, `\n${lines} \n`)).toBe(true);
});

test("word with a comma cannot be written as a line", () => {
  expect(isInLines(sets)).toBe(true);
  expect(isInLines([])).toBe(true);
  expect(isInLines([{ synonyms: ["a, b", "c"] }])).toBe(false);
  expect(isInLines([{ synonyms: ["a>b", "c"] }])).toBe(false);
});

test("error of a set has its line number", () => {
  expect(lineOf("\na, b\n\nc", "/synonyms/1/synonyms")).toBe(4);
  expect(lineOf("a, b", "/synonyms")).toBeUndefined();
});
