/** The page that the user visited last, so that the application opens there. */

const PLACE = "keyed.place";

export type Place = { project?: string; template?: string };

export function lastPlace(): Place {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? "{}");
  } catch {
    return {};
  }
}

export function rememberPlace(place: Place) {
  localStorage.setItem(PLACE, JSON.stringify({ ...lastPlace(), ...place }));
}

const LIST = /^\/p\/([^/]+)\/t\/([^/]+)(?:\/r\/[^/]+)?$/;
const PROJECT = /^\/p\/([^/]+)(?:\/|$)/;

/** The project of an address, and the template if it is a list. @throws URIError if it cannot be decoded. */
export function placeOf(path: string): Place {
  const [, project, template] = LIST.exec(path) ?? PROJECT.exec(path) ?? [];
  if (project === undefined) return {};
  if (template === undefined) return { project: decodeURIComponent(project) };
  return { project: decodeURIComponent(project), template: decodeURIComponent(template) };
}
