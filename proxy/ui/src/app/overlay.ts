/** Overlays of every page: the palette, the shortcuts, the code for the screen. */
import { useSyncExternalStore } from "react";

export type Overlay = "palette" | "shortcuts" | "code";

let open: Overlay | null = null;
const listeners = new Set<() => void>();

export function show(overlay: Overlay | null) {
  open = overlay;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useOverlay = (): Overlay | null => useSyncExternalStore(subscribe, () => open);
