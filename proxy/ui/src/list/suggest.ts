/** Suggestions for the last word of a search: which ones are shown, and their keyboard actions. */
import type { Schemas } from "../api/client";

export type Suggestion = Schemas["Suggestions"]["suggestions"][number];

export const MAX_SUGGESTIONS = 8;
/** A single letter has too many completions. */
const MIN_LETTERS = 2;

/** The text after the last space. */
const lastWord = (search: string): string => /\S*$/.exec(search)?.[0] ?? "";

/** Whether a search ends with an incomplete word. */
export const isCompletable = (search: string): boolean => lastWord(search).length >= MIN_LETTERS;

/** The search with its last word replaced by a suggestion. */
export const completed = (search: string, { text }: Suggestion): string =>
  search.slice(0, search.length - lastWord(search).length) + text;

/** The suggestions that are longer than the typed text. */
export function usefulSuggestions(search: string, suggestions: readonly Suggestion[]): Suggestion[] {
  const typed = search.toLocaleLowerCase();
  return suggestions
    .filter((it) => completed(search, it).toLocaleLowerCase() !== typed)
    .slice(0, MAX_SUGGESTIONS);
}

/**
 * The suggestion that an arrow key selects; null for the field itself, "records" below the last one. The list does not
 * wrap around: the user leaves it for the records.
 */
export function moveHighlight(active: number | null, key: "ArrowDown" | "ArrowUp", count: number) {
  if (key === "ArrowUp") return active === null ? count - 1 : active === 0 ? null : active - 1;
  const next = active === null ? 0 : active + 1;
  return next < count ? next : "records";
}
