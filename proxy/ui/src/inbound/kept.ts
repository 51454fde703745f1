/**
 * What somebody is at work on with an endpoint: its sample payload and its mapping as long as it is not saved. Kept in
 * memory alone, for payloads may have personal data in them.
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
