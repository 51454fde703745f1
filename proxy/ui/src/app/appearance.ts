/** Theme and density, remembered by this browser. */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
export type Density = "compact" | "normal" | "comfortable";
export type Appearance = { theme: Theme; density: Density };

const STORAGE_KEY = "keyed.appearance";
const listeners = new Set<() => void>();

function restore(): Appearance {
  const initial: Appearance = { theme: "system", density: "normal" };
  try {
    return { ...initial, ...JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}") };
  } catch {
    return initial;
  }
}

let appearance = restore();

/** Applies theme and density to the page. */
export function applyAppearance() {
  document.documentElement.dataset.theme = appearance.theme;
  document.documentElement.dataset.density = appearance.density;
}

export function setAppearance(change: Partial<Appearance>) {
  appearance = { ...appearance, ...change };
  localStorage.setItem(STORAGE_KEY, JSON.stringify(appearance));
  applyAppearance();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useAppearance = (): Appearance => useSyncExternalStore(subscribe, () => appearance);
