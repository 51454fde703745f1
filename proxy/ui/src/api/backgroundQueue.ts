/** Runs at most two background tasks at a time, so that user requests never wait behind them. */

const MAX_CONCURRENT = 2;
let running = 0;
const waiting: (() => void)[] = [];

export async function inBackground<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
