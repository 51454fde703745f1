/** The delay before a closed connection is opened again. */

const FIRST = 1_000;
const MAX_PAUSE = 60_000;

/**
 * Doubles with each consecutive failure, up to a minute. Part of it is random, to spread the reconnects of browsers.
 * @param failures consecutive failures, counted since the last successful connection
 * @param asked requested by the service, in milliseconds
 * @param random from 0 to 1
 */
export function pauseAfter(failures: number, asked: number | null, random: number): number {
  const base = Math.min(MAX_PAUSE, (asked ?? FIRST) * 2 ** Math.min(failures, 10));
  return base * (0.5 + random / 2);
}
