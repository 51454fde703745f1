import { useEffect, useState } from "react";

/** A value counts as settled if it does not change for this long, which exceeds the pause between two keystrokes. */
const PAUSE = 250;

/** Whether a value has not changed for a while, so low-priority requests may be sent for it. */
export function useSettled(value: string): boolean {
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled === value;
}
