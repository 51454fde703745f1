/** Whether an API key is active, expired or revoked. */
import type { ApiKey } from "../api/administration";
import { isPast } from "../format/moment";

export type KeyState = "active" | "revoked" | "expired" | "orphaned";

type KeyDates = Pick<ApiKey, "revoked_at" | "expires_at" | "orphaned">;

export function keyState({ revoked_at, expires_at, orphaned }: KeyDates, now = Date.now()): KeyState {
  if (revoked_at !== null) return "revoked";
  if (expires_at !== null && isPast(expires_at, now)) return "expired";
  return orphaned ? "orphaned" : "active";
}

/** The id in a key, `keyed_<id>_<secret>`; null if the key has none. */
export function keyId(key: string): string | null {
  return /^keyed_(\d+)_/.exec(key)?.[1] ?? null;
}
