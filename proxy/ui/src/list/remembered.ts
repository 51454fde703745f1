/**
 * The last state of each template's list, so that the navigation opens it unchanged: columns, sort and layout. The links
 * of the navigation contain them.
 */
import { addresses } from "../navigation/addresses";
import { decodeState, encodeState, queryWith } from "./address";
import { INITIAL, type ListState } from "./state";

const storageKey = (project: string, template: string) => `keyed.list.${project}.${template}`;

/** The address of a list in its last state. */
export function leftList(project: string, template: string): string {
  const stored = localStorage.getItem(storageKey(project, template));
  const query = stored === null ? "" : encodeState(decodeState(stored));
  return addresses.list(project, template) + queryWith([query]);
}

export function rememberState(project: string, template: string, { columns, sort, layout }: ListState) {
  const query = encodeState({ ...INITIAL, columns, sort, layout });
  if (query === "") localStorage.removeItem(storageKey(project, template));
  else localStorage.setItem(storageKey(project, template), query);
}
