/** What the first page asks for is asked for at once, while its code is still on its way. */
import { type AheadRequest, sendAhead } from "../api/ahead";
import { renderJson } from "../api/json";
import { decodeState } from "../list/address";
import { fieldNames, isRanked, type ListState, listBody, pageBody } from "../list/state";
import { placeOf } from "../navigation/place";

/** The first page of a list, as it is asked for before its template is known; null where that cannot be said. */
function firstPage(state: ListState): string | null {
  const isView = state.view !== null && state.conditions.length === 0 && state.search === "";
  // Whether the list can begin at a value, its template says.
  if (isView || isRanked(state) || state.start !== null) return null;
  const fields = state.columns && fieldNames(state.columns.map(({ id }) => id));
  return renderJson(pageBody(listBody(state, fields), false, null));
}

/** The requests that the page at an address begins with. */
export function* firstRequests(path: string, query: string, key: string | null): Generator<AheadRequest> {
  const { project, template } = placeOf(path);
  if (key === null || project === undefined) return;
  const common = { project, key };
  yield { ...common, method: "GET", path: "/v1/templates" };
  yield { ...common, method: "GET", path: "/v1/me" };
  if (template === undefined) return;
  const body = firstPage(decodeState(query));
  const search = `/v1/entities/search/${encodeURIComponent(template)}`;
  if (body !== null) yield { ...common, method: "POST", path: search, body };
}

/** Sends them. An address that cannot be read is left to the page itself. */
export function askAhead(key: string | null) {
  try {
    for (const request of firstRequests(location.pathname, location.search.slice(1), key)) sendAhead(request);
  } catch {
    // The page asks, and says what is wrong.
  }
}
