/** The requests whose responses are on the screen, for the code dialog (`.`). */
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { ApiRequest } from "./request";

/** What a request shows. The record is in front of its list. */
const SCOPES = ["page", "list", "record"] as const;

export type OnScreen = { scope: (typeof SCOPES)[number]; request: ApiRequest };

type Slot = { current: OnScreen | null };

let slots: Slot[] = [];
let onScreen: OnScreen[] = [];
const listeners = new Set<() => void>();

function update() {
  const rank = (it: OnScreen) => SCOPES.indexOf(it.scope);
  onScreen = slots.flatMap(({ current }) => current ?? []).sort((a, b) => rank(b) - rank(a));
  for (const listener of listeners) listener();
}

/** Registers the request whose response the component shows; null while there is none. */
export function useOnScreen(request: ApiRequest | null, scope: OnScreen["scope"] = "page") {
  const slot = useRef<OnScreen | null>(null);
  useEffect(() => {
    slots = [...slots, slot];
    update();
    return () => {
      slots = slots.filter((it) => it !== slot);
      update();
    };
  }, []);
  // No dependency list: callers build the request in each render, and it is compared by content.
  useEffect(() => {
    const next = request && { request, scope };
    if (JSON.stringify(next) === JSON.stringify(slot.current)) return;
    slot.current = next;
    update();
  });
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The requests on the screen, the innermost first. */
export const useRequestsOnScreen = (): OnScreen[] => useSyncExternalStore(subscribe, () => onScreen);
