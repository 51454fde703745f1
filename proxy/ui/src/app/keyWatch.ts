/** Checks the key again when the user returns to the page, because it may have been revoked. */
import { useEffect } from "react";
import { queryClient } from "../api/queries";
import { useSession } from "../session/session";

/** Milliseconds between checks. A return causes one or two events. */
const MIN_INTERVAL = 1_000;

/** A rejected key opens the sign-in dialog, and changed privileges update the actions. */
export function useKeyWatch() {
  const { key, rejected } = useSession();
  useEffect(() => {
    if (key === null || rejected) return;
    let last = 0;
    const look = () => {
      if (document.visibilityState !== "visible" || Date.now() - last < MIN_INTERVAL) return;
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
  }, [key, rejected]);
}
