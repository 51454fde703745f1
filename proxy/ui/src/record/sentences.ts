/** History entries as sentences. */
import type { Schemas } from "../api/client";
import type { Attribute, Template } from "../api/queries";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import { isEmptyValue, valueText } from "../value/text";
import { KEY } from "./merge";

const t = messages.record;

export type Entry = Schemas["History"]["history"][number];

/** The actor without the id of the key: "erp sync (key 3)" is "erp sync". */
export const actorName = (actor: string): string => actor.replace(/ \(key \d+\)$/, "") || t.otherUser;

export const attributeOf = (template: Template | undefined, field: string): Attribute | undefined =>
  template?.attributes.find((it) => it.slug === field);

/** The display name of a field: its label, or its former slug if the template no longer has it. */
export function fieldLabel(template: Template | undefined, field: string): string {
  if (field === KEY) return t.key;
  const attribute = attributeOf(template, field);
  return attribute ? attributeLabel(attribute) : field;
}

/** The changes of an entry, in the order of the record's fields. Fields that the template no longer has come last. */
export function changesOf(template: Template | undefined, { changes }: Entry) {
  const order = [KEY, ...(template?.attributes ?? []).map(({ slug }) => slug)];
  const position = (field: string) => (order.includes(field) ? order.indexOf(field) : order.length);
  return Object.entries(changes).sort(([a], [b]) => position(a) - position(b));
}

/** The source of a change: "through the API". */
export const sourceOf = (source: string): string => t.sources[source] ?? t.otherSource(source);

const MAX_NAMED = 3;

/** An entry in one sentence, without its time. References have no value in it, because the history has only their id. */
export function entrySentence(
  template: Template | undefined,
  entry: Entry,
  only?: readonly string[],
): string {
  const actor = actorName(entry.actor);
  const fields = changesOf(template, entry)
    .map(([field]) => field)
    .filter((field) => only === undefined || only.includes(field));
  if (entry.operation !== "update" || fields.length === 0) return t.did[entry.operation](actor);
  const [field = ""] = fields;
  const label = fieldLabel(template, field);
  if (fields.length > 1) {
    const labels = fields.slice(0, MAX_NAMED).map((it) => fieldLabel(template, it));
    const rest = fields.length - labels.length;
    return t.changedFields(actor, labels.join(", ") + (rest > 0 ? ` ${t.andMore(rest)}` : ""));
  }
  const value = entry.changes[field]?.new;
  if (isEmptyValue(value)) return t.cleared(actor, label);
  const attribute = attributeOf(template, field);
  if (attribute?.type === "reference") return t.changedFields(actor, label);
  return t.setTo(actor, label, attribute ? valueText(attribute, value) : String(value));
}

/** The newest entries that changed these fields, newest first. */
export function entriesOf(
  entries: readonly Entry[],
  fields: readonly string[],
): { entry: Entry; fields: string[] }[] {
  const left = new Set(fields);
  return entries.flatMap((entry) => {
    const touched = Object.keys(entry.changes).filter((field) => left.delete(field));
    return touched.length === 0 ? [] : [{ entry, fields: touched }];
  });
}
