/** Where the reader was last, so that the application opens there. */

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
