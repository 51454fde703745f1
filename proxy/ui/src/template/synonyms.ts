/** Sets of synonyms as lines of text: `car, automobile` in both directions, `phone > smartphone` in one. */
import type { Schemas } from "../api/client";

type Set = Schemas["SynonymSet"];

const words = (text: string) =>
  text
    .split(",")
    .map((it) => it.trim())
    .filter((it) => it !== "");

/** Parses the sets of these lines. */
export const setsOf = (text: string): Set[] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const end = line.indexOf(">");
      return end < 0
        ? { synonyms: words(line) }
        : { root: line.slice(0, end).trim(), synonyms: words(line.slice(end + 1)) };
    });

/** Renders sets as lines. */
export const linesOf = (sets: Set[]): string =>
  sets.map(({ root, synonyms }) => (root == null ? "" : `${root} > `) + synonyms.join(", ")).join("\n");

/** Whether these lines give the same sets. */
export const areSynonymsAlike = (a: string, b: string) =>
  JSON.stringify(setsOf(a)) === JSON.stringify(setsOf(b));

/** Whether lines can represent a set: not if a word contains a comma or `>`. */
export const isInLines = (sets: Set[]) => JSON.stringify(setsOf(linesOf(sets))) === JSON.stringify(sets);

/** The line number that a pointer into the request refers to, from 1. */
export function lineOf(text: string, pointer: string): number | undefined {
  const set = /^\/synonyms\/(\d+)/.exec(pointer)?.[1];
  if (set === undefined) return undefined;
  const lines = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [index + 1]));
  return lines[Number(set)];
}
