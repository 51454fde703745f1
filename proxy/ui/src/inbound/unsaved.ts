/**
 * Unsaved work on an endpoint: its sample payload, and its mapping until it is saved. It is held only in memory, because
 * payloads may contain personal data.
 */
import { useSyncExternalStore } from "react";
import type { Draft } from "./draft";

type Kept = { sample: string; draft: Draft | null };

const NOTHING: Kept = { sample: "", draft: null };
const kept = new Map<string, Kept>();
const listeners = new Set<() => void>();

/** Stores unsaved work for the endpoint with this id. */
export function keep(endpoint: string, part: Partial<Kept>) {
  kept.set(endpoint, { ...(kept.get(endpoint) ?? NOTHING), ...part });
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useKept = (endpoint: string): Kept =>
  useSyncExternalStore(subscribe, () => kept.get(endpoint) ?? NOTHING);
