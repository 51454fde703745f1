/**
 * How a list looked last, by template, so that the navigation leads to it as it was: columns, sort and layout. They are in the
 * address that it leads to.
 */
import { addresses } from "../navigation/addresses";
import { decodeState, encodeState, queryWith } from "./address";
import { INITIAL, type ListState } from "./state";

const place = (project: string, template: string) => `keyed.list.${project}.${template}`;

/** The address of a list as it was left. */
export function leftList(project: string, template: string): string {
  const kept = localStorage.getItem(place(project, template));
  const query = kept === null ? "" : encodeState(decodeState(kept));
  return addresses.list(project, template) + queryWith([query]);
}

export function rememberState(project: string, template: string, { columns, sort, layout }: ListState) {
  const query = encodeState({ ...INITIAL, columns, sort, layout });
  if (query === "") localStorage.removeItem(place(project, template));
  else localStorage.setItem(place(project, template), query);
}
