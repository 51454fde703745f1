import { useEffect, useState } from "react";

/** Milliseconds after which a search shows a message, and after which it offers to stop. */
const SLOW = 400;
const VERY_SLOW = 5_000;

/** How long a task has been running. */
export type Patience = "quick" | "slow" | "very slow";

export function usePatience(isRunning: boolean): Patience {
  const [patience, setPatience] = useState<Patience>("quick");
  useEffect(() => {
    if (!isRunning) return setPatience("quick");
    const slow = setTimeout(() => setPatience("slow"), SLOW);
    const verySlow = setTimeout(() => setPatience("very slow"), VERY_SLOW);
    return () => {
      clearTimeout(slow);
      clearTimeout(verySlow);
    };
  }, [isRunning]);
  return patience;
}
