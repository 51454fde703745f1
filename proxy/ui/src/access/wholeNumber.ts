/** A whole number as it was typed, with or without separators of thousands; null if empty, undefined if it is not one. */
export function readWhole(text: string): number | null | undefined {
  const digits = text.replaceAll(/[\s'’,._]/g, "");
  if (digits === "") return text.trim() === "" ? null : undefined;
  if (!/^\d{1,15}$/.test(digits)) return undefined;
  // A point or comma may also begin a fraction: it separates thousands only before three digits.
  const grouped = text.trim().replaceAll(/[\s'’_]/g, "");
  return /^(\d+|\d{1,3}([.,]\d{3})+)$/.test(grouped) ? Number(digits) : undefined;
}
