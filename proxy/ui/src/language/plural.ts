/** Numbers and counts as readers write them. */

const numbers = new Intl.NumberFormat();
const rules = new Intl.PluralRules("en");

/** 1234567 → "1,234,567" in an English browser. */
export const number = (value: number): string => numbers.format(value);

/** count(3, "record") → "3 records". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${rules.select(value) === "one" ? one : many}`;
}
