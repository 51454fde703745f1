import { useCallback, useEffect, useRef, useState } from "react";
import { type Paced, paced } from "../api/paced";
import { messages } from "../language";
import type { Counts } from "./live";

/** Milliseconds between two announcements. */
const INTERVAL = 8_000;

const NONE: Counts = { changed: 0, lost: 0 };

/** Announces changes by other users to screen readers. Many changes are summarized. */
export function useAnnouncement(): [string, (counts: Counts) => void] {
  const [announcement, setAnnouncement] = useState("");
  const sum = useRef(NONE);
  const speech = useRef<Paced | null>(null);
  useEffect(() => {
    const speaking = paced(async () => {
      setAnnouncement(messages.list.othersDid(sum.current.changed, sum.current.lost));
      sum.current = NONE;
    }, INTERVAL);
    speech.current = speaking;
    return speaking.stop;
  }, []);
  const add = useCallback(({ changed, lost }: Counts) => {
    if (changed + lost === 0) return;
    sum.current = { changed: sum.current.changed + changed, lost: sum.current.lost + lost };
    speech.current?.ask();
  }, []);
  return [announcement, add];
}
