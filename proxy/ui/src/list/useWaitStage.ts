import { useEffect, useState } from "react";

/** Milliseconds after which a search shows a message, and after which it offers to stop. */
const SLOW = 400;
const VERY_SLOW = 5_000;

/** How long a task has been running. */
export type WaitStage = "quick" | "slow" | "very slow";

export function useWaitStage(isRunning: boolean): WaitStage {
  const [waitStage, setWaitStage] = useState<WaitStage>("quick");
  useEffect(() => {
    if (!isRunning) return setWaitStage("quick");
    const slow = setTimeout(() => setWaitStage("slow"), SLOW);
    const verySlow = setTimeout(() => setWaitStage("very slow"), VERY_SLOW);
    return () => {
      clearTimeout(slow);
      clearTimeout(verySlow);
    };
  }, [isRunning]);
  return waitStage;
}
