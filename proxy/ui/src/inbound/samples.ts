/** Sample payloads of endpoints, kept in memory alone: they may have personal data in them. */
import { useSyncExternalStore } from "react";

const samples = new Map<string, string>();
const listeners = new Set<() => void>();

export function setSample(endpoint: string, text: string) {
  samples.set(endpoint, text);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The sample of the endpoint of this number. */
export const useSample = (endpoint: string): string =>
  useSyncExternalStore(subscribe, () => samples.get(endpoint) ?? "");
