/** Fields at whose values a list can begin. */
import type { Template } from "../api/queries";
import { type Field, Fields } from "../filter/fields";
import { readValue } from "../filter/reading";
import { numberOf } from "../value/exact";
import type { ListState } from "./state";

const TIME = /^\d{4,}-\d\d-\d\d/;

/** Whether the service compares values of the field: it knows no first text, key or reference. */
export const canStart = ({ kind }: Field): boolean =>
  kind === "number" || kind === "date" || kind === "datetime";

/** The fields whose values lead into a list: those at which it can begin, and texts, by their beginning. */
export function startFields(template: Template, isDeleted: boolean): Field[] {
  const { own, standard } = new Fields([template], template.slug, isDeleted).list();
  return [...own, ...standard].filter((field) => canStart(field) || field.kind === "string");
}

const isValue = ({ kind }: Field, value: string): boolean =>
  kind === "number" ? numberOf(value) !== undefined : TIME.test(value) && !Number.isNaN(Date.parse(value));

export type Start = { field: Field; value: string; isDescending: boolean };

/** Where the list begins; null for its beginning, and for an address whose value does not fit the sort. */
export function startOf({ sort: [by], start, isDeleted }: ListState, template: Template): Start | null {
  if (by === undefined || start === null) return null;
  const field = new Fields([template], template.slug, isDeleted).find(by.field);
  if (field === null || !canStart(field) || !isValue(field, start)) return null;
  return { field, value: start, isDescending: by.isDescending };
}

/** The value as the reader writes it. */
export const startText = ({ field, value }: Start): string =>
  readValue(value, field.kind, undefined, field.attribute?.format);

/** The list as it can be asked for. */
export const withUsableStart = (state: ListState, template: Template): ListState =>
  state.start === null || startOf(state, template) !== null ? state : { ...state, start: null };
