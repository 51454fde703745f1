import { useEffect } from "react";
import { queryClient } from "../api/queries";
import { probe, sayReached, useReached } from "../api/reachability";
import { Notice } from "../components/Notice";
import { words } from "../language";
import style from "./Frame.module.css";

const EVERY = 3_000;

/** Reports that the service is unreachable, polls it, and reloads the page's data when it responds. */
export function OfflineBar() {
  const isReached = useReached();
  useEffect(() => {
    if (isReached) return;
    let isOver = false;
    const ask = async () => {
      if (!(await probe()) || isOver) return;
      sayReached(true);
      await queryClient.invalidateQueries();
    };
    const timer = setInterval(ask, EVERY);
    window.addEventListener("online", ask);
    return () => {
      isOver = true;
      clearInterval(timer);
      window.removeEventListener("online", ask);
    };
  }, [isReached]);
  // The region is always present, so that screen readers announce its content when it appears.
  return (
    <div className={style.notices} aria-live="polite">
      {!isReached && <Notice kind="attention">{words.frame.unreachable}</Notice>}
    </div>
  );
}
