export type Paced = {
  /** Requests a run, after at least this many milliseconds. */
  ask: (delay?: number) => void;
  stop: () => void;
};

/** Runs a function at most once every `every` milliseconds, never concurrently, and again if requested during a run. */
export function paced(run: () => Promise<void>, every: number): Paced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let began = Number.NEGATIVE_INFINITY;
  let isRunning = false;
  let again: number | null = null;
  const start = async () => {
    timer = undefined;
    began = performance.now();
    isRunning = true;
    await run();
    isRunning = false;
    if (again === null) return;
    const delay = again;
    again = null;
    ask(delay);
  };
  const ask = (delay = 0) => {
    if (isRunning) again = Math.min(again ?? delay, delay);
    else timer ??= setTimeout(start, Math.max(delay, began + every - performance.now()));
  };
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
    again = null;
  };
  return { ask, stop };
}
