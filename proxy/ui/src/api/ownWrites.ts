/** Tracks the writes of this tab, so that the change feed does not report them as changes by another user. */

/** The feed usually reports a change within this many milliseconds after the response to its write. */
const MAX_DELAY = 5_000;

let running = 0;
let ended = Number.NEGATIVE_INFINITY;

/** Runs a function that writes records. */
export async function writing<T>(run: () => Promise<T>): Promise<T> {
  running += 1;
  try {
    return await run();
  } finally {
    running -= 1;
    ended = performance.now();
  }
}

/** Whether this tab has just written records. */
export const hasJustWritten = (): boolean => running > 0 || performance.now() - ended < MAX_DELAY;
