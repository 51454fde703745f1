/** How a list looked last, by template, so that it opens so again: columns, sort and layout. */
import { decodeState, encodeState } from "./address";
import { INITIAL, type ListState } from "./state";

const place = (project: string, template: string) => `keyed.list.${project}.${template}`;

/** The query that a list without one begins with. */
export function rememberedQuery(project: string, template: string): string {
  return encodeState(decodeState(localStorage.getItem(place(project, template)) ?? ""));
}

export function rememberState(project: string, template: string, { columns, sort, layout }: ListState) {
  const query = encodeState({ ...INITIAL, columns, sort, layout });
  if (query === "") localStorage.removeItem(place(project, template));
  else localStorage.setItem(place(project, template), query);
}
