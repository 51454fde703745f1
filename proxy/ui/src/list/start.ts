/** The fields at whose values a list can start. */
import type { Template } from "../api/queries";
import { type Field, Fields } from "../filter/fields";
import { readValue } from "../filter/reading";
import { numberOf } from "../value/exact";
import type { ListState } from "./state";

const TIME = /^\d{4,}-\d\d-\d\d/;

/** Whether a list can start at a value of the field. The service supports this for no text, key or reference. */
export const canStart = ({ kind }: Field): boolean =>
  kind === "number" || kind === "date" || kind === "datetime";

/** The fields by whose values the user can navigate: those at which a list can start, and text fields by prefix. */
export function startFields(template: Template, isDeleted: boolean): Field[] {
  const { own, standard } = new Fields([template], template.slug, isDeleted).list();
  return [...own, ...standard].filter((field) => canStart(field) || field.kind === "string");
}

const isValue = ({ kind }: Field, value: string): boolean =>
  kind === "number" ? numberOf(value) !== undefined : TIME.test(value) && !Number.isNaN(Date.parse(value));

export type Start = { field: Field; value: string; isDescending: boolean };

/** The start of the list; null for its beginning, or if the value in the address does not fit the sort. */
export function startOf({ sort: [by], start, isDeleted }: ListState, template: Template): Start | null {
  if (by === undefined || start === null) return null;
  const field = new Fields([template], template.slug, isDeleted).find(by.field);
  if (field === null || !canStart(field) || !isValue(field, start)) return null;
  return { field, value: start, isDescending: by.isDescending };
}

/** The value in the user's locale. */
export const startText = ({ field, value }: Start): string =>
  readValue(value, field.kind, undefined, field.attribute?.format);

/** The list with its start removed if it cannot be used. */
export const withUsableStart = (state: ListState, template: Template): ListState =>
  state.start === null || startOf(state, template) !== null ? state : { ...state, start: null };
