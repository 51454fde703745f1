/** Suggestions for the last word of a search: which are shown, and what the keys do with them. */
import type { Schemas } from "../api/client";

export type Suggestion = Schemas["Suggestions"]["suggestions"][number];

export const MAX_SUGGESTIONS = 8;
/** One letter is the beginning of too much. */
const FEWEST_LETTERS = 2;

/** What follows the last space. */
const lastWord = (search: string): string => /\S*$/.exec(search)?.[0] ?? "";

/** Whether a search ends with the beginning of a word. */
export const isCompletable = (search: string): boolean => lastWord(search).length >= FEWEST_LETTERS;

/** The search with a suggestion in place of its last word. */
export const completed = (search: string, { text }: Suggestion): string =>
  search.slice(0, search.length - lastWord(search).length) + text;

/** The suggestions that are more than what was typed. */
export function usefulSuggestions(search: string, suggestions: readonly Suggestion[]): Suggestion[] {
  const typed = search.toLocaleLowerCase();
  return suggestions
    .filter((it) => completed(search, it).toLocaleLowerCase() !== typed)
    .slice(0, MAX_SUGGESTIONS);
}

/**
 * The suggestion that an arrow leads to; null for the field itself, "records" for what is below the last one. The list
 * has no other end: who searches leaves it for the records.
 */
export function stepped(active: number | null, key: "ArrowDown" | "ArrowUp", count: number) {
  if (key === "ArrowUp") return active === null ? count - 1 : active === 0 ? null : active - 1;
  const next = active === null ? 0 : active + 1;
  return next < count ? next : "records";
}
