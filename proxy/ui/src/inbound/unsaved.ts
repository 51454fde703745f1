/**
 * The user's unsaved work on an endpoint: its sample payload and its mapping until it is saved. It is kept only in
 * memory, because payloads may have personal data in them.
 */
import { useSyncExternalStore } from "react";
import type { Draft } from "./draft";

type Kept = { sample: string; draft: Draft | null };

const NOTHING: Kept = { sample: "", draft: null };
const kept = new Map<string, Kept>();
const listeners = new Set<() => void>();

/** Keeps a part of it for the endpoint of this number. */
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
