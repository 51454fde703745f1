/** Numbers and counts as readers write them. */

const numbers = new Intl.NumberFormat();
const rules = new Intl.PluralRules("en");

/** 1234567 → "1,234,567" in an English browser. */
export const number = (value: number): string => numbers.format(value);

/** Rounds an estimate to two significant digits: 69164 → 69000, and 69 stays. */
export const rounded = (value: number): number => {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
  return Math.round(value / unit) * unit;
};

/** count(3, "record") → "3 records". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${rules.select(value) === "one" ? one : many}`;
}
