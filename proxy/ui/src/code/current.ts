/** The requests whose responses are on the screen, for the code dialog (`.`). */
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { ApiRequest } from "./request";

/** What a request shows. The record is in front of its list. */
const PLACES = ["page", "list", "record"] as const;

export type OnScreen = { place: (typeof PLACES)[number]; request: ApiRequest };

type Slot = { current: OnScreen | null };

let slots: Slot[] = [];
let shown: OnScreen[] = [];
const listeners = new Set<() => void>();

function say() {
  const rank = (it: OnScreen) => PLACES.indexOf(it.place);
  shown = slots.flatMap(({ current }) => current ?? []).sort((a, b) => rank(b) - rank(a));
  for (const listener of listeners) listener();
}

/** Registers the request whose response the component shows; null while there is none. */
export function useOnScreen(request: ApiRequest | null, place: OnScreen["place"] = "page") {
  const slot = useRef<OnScreen | null>(null);
  useEffect(() => {
    slots = [...slots, slot];
    say();
    return () => {
      slots = slots.filter((it) => it !== slot);
      say();
    };
  }, []);
  // No dependency list: callers build the request in each render, and it is compared by content.
  useEffect(() => {
    const next = request && { request, place };
    if (JSON.stringify(next) === JSON.stringify(slot.current)) return;
    slot.current = next;
    say();
  });
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The requests on the screen, the innermost first. */
export const useRequestsOnScreen = (): OnScreen[] => useSyncExternalStore(subscribe, () => shown);
