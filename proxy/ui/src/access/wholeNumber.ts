/** Parses a whole number with or without thousands separators; null for empty text, undefined for other text. */
export function readWhole(text: string): number | null | undefined {
  const digits = text.replaceAll(/[\s'’,._]/g, "");
  if (digits === "") return text.trim() === "" ? null : undefined;
  if (!/^\d{1,15}$/.test(digits)) return undefined;
  // A point or comma may also begin a fraction. It separates thousands only if exactly three digits follow.
  const grouped = text.trim().replaceAll(/[\s'’_]/g, "");
  return /^(\d+|\d{1,3}([.,]\d{3})+)$/.test(grouped) ? Number(digits) : undefined;
}
