/** The page that the user visited last, so that the application opens there. */

const STORAGE_KEY = "keyed.place";

export type Visit = { project?: string; template?: string };

export function lastVisit(): Visit {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
  } catch {
    return {};
  }
}

export function rememberVisit(visit: Visit) {
  localStorage.setItem(STORAGE_KEY, JSON.stringify({ ...lastVisit(), ...visit }));
}

const LIST = /^\/p\/([^/]+)\/t\/([^/]+)(?:\/r\/[^/]+)?$/;
const PROJECT = /^\/p\/([^/]+)(?:\/|$)/;

/** The project of an address, and the template if it is a list. @throws URIError if it cannot be decoded. */
export function visitOf(path: string): Visit {
  const [, project, template] = LIST.exec(path) ?? PROJECT.exec(path) ?? [];
  if (project === undefined) return {};
  if (template === undefined) return { project: decodeURIComponent(project) };
  return { project: decodeURIComponent(project), template: decodeURIComponent(template) };
}
