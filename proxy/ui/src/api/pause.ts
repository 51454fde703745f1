/** How long a connection that ended waits before the next one. */

const FIRST = 1_000;
const LONGEST = 60_000;

/**
 * Doubles with each failure in a row, up to a minute. A part of it is random, so that not all browsers come back at once.
 * @param failures in a row, without those that a connection came after
 * @param asked by the service, in milliseconds
 * @param random from 0 to 1
 */
export function pauseAfter(failures: number, asked: number | null, random: number): number {
  const base = Math.min(LONGEST, (asked ?? FIRST) * 2 ** Math.min(failures, 10));
  return base * (0.5 + random / 2);
}
