/** The difference between two versions of a record, field by field. */
import type { Json } from "../api/json";
import type { RecordBody } from "../api/queries";
import { isSame } from "../value/exact";

/** The field name of the external key. No slug equals it. */
export const KEY = "external_key";

/** The value of an attribute, or the external key; null if there is none. */
export function fieldOf(record: RecordBody, field: string): Json {
  if (field === KEY) return record.external_key;
  return (record.attributes?.[field] as Json | undefined) ?? null;
}

/** The fields whose values differ. */
export function changedFields(before: RecordBody, after: RecordBody): string[] {
  const fields = new Set([
    KEY,
    ...Object.keys(before.attributes ?? {}),
    ...Object.keys(after.attributes ?? {}),
  ]);
  return [...fields].filter((field) => !isSame(fieldOf(before, field), fieldOf(after, field)));
}
