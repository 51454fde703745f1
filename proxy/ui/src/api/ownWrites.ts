/** What this tab writes, so that the feed of changes does not report it as the work of another user. */

/** The feed reports a change at most this many milliseconds after its response, unless something delays it. */
const LATEST = 5_000;

let running = 0;
let ended = Number.NEGATIVE_INFINITY;

/** Runs something that writes records. */
export async function writing<T>(run: () => Promise<T>): Promise<T> {
  running += 1;
  try {
    return await run();
  } finally {
    running -= 1;
    ended = performance.now();
  }
}

/** Whether this tab wrote records just now. */
export const hasWrittenLately = (): boolean => running > 0 || performance.now() - ended < LATEST;
