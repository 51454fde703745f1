import type { RecordBody } from "../api/queries";
import { messages } from "../language";
import { isEmptyValue } from "../value/text";

/** The name of a record in sentences: its display attribute, or its key. */
export function recordName(record: RecordBody, display: string | null): string {
  const shown = display === null ? undefined : record.attributes?.[display];
  return isEmptyValue(shown) ? (record.external_key ?? messages.list.unnamed) : String(shown);
}
