/** How the palette and the filters of the rail find names. */

/** Without case and accents: "é" is found as "e". */
export const plain = (text: string) =>
  text
    .normalize("NFKD")
    .replace(/\p{Diacritic}/gu, "")
    .toLocaleLowerCase();

const partsOf = (query: string) => plain(query).split(/\s+/).filter(Boolean);

/** Whether each word of the query is somewhere in one of the names. */
export function matches(query: string, names: readonly string[]): boolean {
  const all = names.map(plain).join(" ");
  return partsOf(query).every((part) => all.includes(part));
}

/** How well a name answers a query: 0 is best, null is not at all. Names that begin with the query come first. */
export function rank(query: string, names: readonly string[]): number | null {
  if (!matches(query, names)) return null;
  const whole = plain(query).trim();
  const all = names.map(plain);
  if (all.includes(whole)) return 0;
  if (all.some((name) => name.startsWith(whole))) return 1;
  return partsOf(query).every((part) => all.some((name) => ` ${name}`.includes(` ${part}`))) ? 2 : 3;
}

/** What matches, the best first; of equals, the order stays. */
export function best<T>(query: string, all: readonly T[], names: (it: T) => readonly string[]): T[] {
  return all
    .flatMap((it, at) => {
      const score = rank(query, names(it));
      return score === null ? [] : [{ it, at, score }];
    })
    .sort((a, b) => a.score - b.score || a.at - b.at)
    .map(({ it }) => it);
}
