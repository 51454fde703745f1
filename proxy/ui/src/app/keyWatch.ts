/** Asks again who the reader is when they come back to the page: their key may have been revoked meanwhile. */
import { useEffect } from "react";
import { queryClient } from "../api/queries";
import { useSession } from "../session/session";

/** Coming back is one event or two, and changes nothing within so short a time. */
const AT_MOST_EVERY = 1_000;

/** A key that is refused leads to signing in; rights that have changed change what is offered. */
export function useKeyWatch() {
  const { key, refused } = useSession();
  useEffect(() => {
    if (key === null || refused) return;
    let last = 0;
    const look = () => {
      if (document.visibilityState !== "visible" || Date.now() - last < AT_MOST_EVERY) return;
      last = Date.now();
      const mine = { queryKey: [key, "me"], type: "active" } as const;
      void queryClient.refetchQueries(mine, { cancelRefetch: false });
    };
    window.addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [key, refused]);
}
