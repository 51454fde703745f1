import { useEffect } from "react";
import { queryClient } from "../api/queries";
import { probe, setReachable, useIsReachable } from "../api/reachability";
import { Notice } from "../components/Notice";
import { messages } from "../language";
import style from "./Frame.module.css";

const POLL_INTERVAL = 3_000;

/** Reports that the service is unreachable, polls it, and reloads the page's data when it responds. */
export function OfflineBar() {
  const isReachable = useIsReachable();
  useEffect(() => {
    if (isReachable) return;
    let isOver = false;
    const ask = async () => {
      if (!(await probe()) || isOver) return;
      setReachable(true);
      await queryClient.invalidateQueries();
    };
    const timer = setInterval(ask, POLL_INTERVAL);
    window.addEventListener("online", ask);
    return () => {
      isOver = true;
      clearInterval(timer);
      window.removeEventListener("online", ask);
    };
  }, [isReachable]);
  // The region is always present, so that screen readers announce its content when it appears.
  return (
    <div className={style.notices} aria-live="polite">
      {!isReachable && <Notice kind="attention">{messages.frame.unreachable}</Notice>}
    </div>
  );
}
