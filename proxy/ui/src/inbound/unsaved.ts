/**
 * Unsaved work on an endpoint: its sample payload, and its mapping until it is saved. It is held only in memory, because
 * payloads may contain personal data.
 */
import { useSyncExternalStore } from "react";
import type { Draft } from "./draft";

type Unsaved = { sample: string; draft: Draft | null };

const NOTHING: Unsaved = { sample: "", draft: null };
const unsaved = new Map<string, Unsaved>();
const listeners = new Set<() => void>();

/** Stores unsaved work for the endpoint with this id. */
export function keep(endpoint: string, part: Partial<Unsaved>) {
  unsaved.set(endpoint, { ...(unsaved.get(endpoint) ?? NOTHING), ...part });
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useUnsaved = (endpoint: string): Unsaved =>
  useSyncExternalStore(subscribe, () => unsaved.get(endpoint) ?? NOTHING);
