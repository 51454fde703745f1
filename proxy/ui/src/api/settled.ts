import { useEffect, useState } from "react";

/** So long nothing may change before it counts as settled: longer than between two letters of who types. */
const PAUSE = 250;

/** Whether a value has been the same for a while, so that requests of low priority may be sent for it. */
export function useSettled(value: string): boolean {
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled === value;
}
