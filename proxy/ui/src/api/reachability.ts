/** Whether the service answers at all, as the last request found it. */
import { useSyncExternalStore } from "react";

let reached = true;
const listeners = new Set<() => void>();

export function sayReached(is: boolean) {
  if (is === reached) return;
  reached = is;
  for (const listener of listeners) listener();
}

export const isReached = (): boolean => reached;

const GATEWAY_FAULTS = [502, 503, 504];

/** Whether it is the service that answered, not a gateway that did not reach it. */
export function isFromService(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return !GATEWAY_FAULTS.includes(response.status) || type.includes("json");
}

/** Asks whether the service answers again. */
export async function probe(): Promise<boolean> {
  try {
    return isFromService(await fetch("/healthz", { cache: "no-store" }));
  } catch {
    return false;
  }
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useReached = (): boolean => useSyncExternalStore(subscribe, isReached);
