/** Whether the last request reached the service. */
import { useSyncExternalStore } from "react";

let reached = true;
const listeners = new Set<() => void>();

export function setReachable(is: boolean) {
  if (is === reached) return;
  reached = is;
  for (const listener of listeners) listener();
}

export const isReachable = (): boolean => reached;

const GATEWAY_ERRORS = [502, 503, 504];

/** Whether the response is from the service, and not from a gateway that could not reach it. */
export function isFromService(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return !GATEWAY_ERRORS.includes(response.status) || type.includes("json");
}

/** Checks whether the service responds again. */
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

export const useIsReachable = (): boolean => useSyncExternalStore(subscribe, isReachable);
