/** Name matching for the palette and the filters of the rail. */

/** Normalizes case and accents: "é" becomes "e". */
export const plain = (text: string) =>
  text
    .normalize("NFKD")
    .replace(/\p{Diacritic}/gu, "")
    .toLocaleLowerCase();

const partsOf = (query: string) => plain(query).split(/\s+/).filter(Boolean);

/** Whether each word of the query occurs in one of the names. */
export function matches(query: string, names: readonly string[]): boolean {
  const all = names.map(plain).join(" ");
  return partsOf(query).every((part) => all.includes(part));
}

/** How well a name matches a query: 0 is best, null is no match. Names that begin with the query come first. */
export function rank(query: string, names: readonly string[]): number | null {
  if (!matches(query, names)) return null;
  const whole = plain(query).trim();
  const all = names.map(plain);
  if (all.includes(whole)) return 0;
  if (all.some((name) => name.startsWith(whole))) return 1;
  return partsOf(query).every((part) => all.some((name) => ` ${name}`.includes(` ${part}`))) ? 2 : 3;
}

/** The matches, best first. Equal matches keep their order. */
export function best<T>(query: string, all: readonly T[], names: (it: T) => readonly string[]): T[] {
  return all
    .flatMap((it, at) => {
      const score = rank(query, names(it));
      return score === null ? [] : [{ it, at, score }];
    })
    .sort((a, b) => a.score - b.score || a.at - b.at)
    .map(({ it }) => it);
}
