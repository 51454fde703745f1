/** Sends the first requests of a page before its code has loaded. `api/preload.ts` passes the responses to the page. */
import { renderJson } from "../api/json";
import { type PreloadRequest, preload } from "../api/preload";
import { decodeState } from "../list/address";
import { firstPageBody, type ListState } from "../list/state";
import { visitOf } from "../navigation/lastVisit";

/**
 * The first search of a list before its template has loaded; null if it is not determined. The fields are those of the
 * columns in the address. If the page also needs the display attribute, its search differs, and it sends its own.
 */
function firstSearch(state: ListState): string | null {
  // Only the template shows whether the list can start at this value.
  if (state.start !== null) return null;
  const fields = state.columns?.map(({ id }) => id).sort() ?? null;
  const body = firstPageBody(state, fields);
  return body === null ? null : renderJson(body);
}

/** The first requests of the page at an address. */
export function* firstRequests(path: string, query: string, key: string | null): Generator<PreloadRequest> {
  const { project, template } = visitOf(path);
  if (key === null || project === undefined) return;
  const common = { project, key };
  yield { ...common, method: "GET", path: "/v1/templates" };
  yield { ...common, method: "GET", path: "/v1/me" };
  if (template === undefined) return;
  const body = firstSearch(decodeState(query));
  const search = `/v1/entities/search/${encodeURIComponent(template)}`;
  if (body !== null) yield { ...common, method: "POST", path: search, body };
}

export function preloadPage(key: string | null) {
  try {
    for (const request of firstRequests(location.pathname, location.search.slice(1), key)) preload(request);
  } catch {
    // The address cannot be decoded. The page reports that.
  }
}
