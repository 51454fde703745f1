/** Sets of synonyms as lines of text: `car, automobile` stand for each other, `phone > smartphone` only for the first. */
import type { Schemas } from "../api/client";

type Set = Schemas["SynonymSet"];

const words = (text: string) =>
  text
    .split(",")
    .map((it) => it.trim())
    .filter((it) => it !== "");

/** The sets of some lines. */
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

/** The lines of some sets. */
export const linesOf = (sets: Set[]): string =>
  sets.map(({ root, synonyms }) => (root == null ? "" : `${root} > `) + synonyms.join(", ")).join("\n");

/** Whether these lines say the same. */
export const areSynonymsAlike = (a: string, b: string) =>
  JSON.stringify(setsOf(a)) === JSON.stringify(setsOf(b));

/** Whether lines can say it: a comma within a word, or the sign of a root, they cannot. */
export const isInLines = (sets: Set[]) => JSON.stringify(setsOf(linesOf(sets))) === JSON.stringify(sets);

/** The number of the line that a place in the request is about, from 1. */
export function lineOf(text: string, pointer: string): number | undefined {
  const set = /^\/synonyms\/(\d+)/.exec(pointer)?.[1];
  if (set === undefined) return undefined;
  const lines = text.split("\n").flatMap((line, place) => (line.trim() === "" ? [] : [place + 1]));
  return lines[Number(set)];
}
