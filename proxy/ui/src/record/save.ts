/** Saves values of a record with undo. */
import type { Schemas } from "../api/client";
import type { Json } from "../api/json";
import { sentence } from "../api/problem";
import { showErrorToast, showToast } from "../components/toast";
import { messages } from "../language";
import { offerUndo } from "../navigation/undo";
import { KEY } from "./merge";
import { saveField } from "./store";

const t = messages.record;

/** The patch that sets a field to a value. */
export const changeTo = (field: string, value: Json): Schemas["RecordChange"] =>
  field === KEY ? { external_key: value as string | null } : { attributes: { [field]: value as string } };

/**
 * Writes a field that had the value `start`, and offers to undo it.
 * @returns false if another user has changed the field. @throws RequestError
 */
export async function saveWithUndo(
  project: string,
  id: string,
  field: { slug: string; label: string },
  start: Json,
  value: Json,
): Promise<boolean> {
  const written = await saveField(project, id, field.slug, start, changeTo(field.slug, value));
  if (written === null) return false;
  const message = t.changeUndone(field.label);
  offerUndo(id, () => void restoreValue(project, id, field, written.value, start, message));
  return true;
}

/** Restores an earlier value of a field, unless the field is no longer `now`, and shows the outcome. */
export async function restoreValue(
  project: string,
  id: string,
  { slug, label }: { slug: string; label: string },
  now: Json,
  value: Json,
  message = t.valueRestored(label),
) {
  try {
    const written = await saveField(project, id, slug, now, changeTo(slug, value));
    if (written !== null) showToast(message);
    else showErrorToast(t.valueNotRestored(label));
  } catch (error) {
    showErrorToast(sentence(error));
  }
}
