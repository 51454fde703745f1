import { useEffect, useState } from "react";
import { Button } from "../components/Button";
import { words } from "../language";
import style from "./ListPage.module.css";
import type { Total } from "./useRecords";

const t = words.list;
/** After so long, a search says that it runs; after so much longer it offers to stop. */
const SLOW = 400;
const VERY_SLOW = 5_000;

/** How long something has been running: "quick", "slow" or "very slow". */
export function usePatience(isRunning: boolean): "quick" | "slow" | "very slow" {
  const [patience, setPatience] = useState<"quick" | "slow" | "very slow">("quick");
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

type Props = {
  seen: { first: number; last: number };
  total: Total;
  loaded: number;
  /** Which of the loaded records are seen is not known. */
  isWhole: boolean;
  isRanked: boolean;
  isSearching: boolean;
  isCounting: boolean;
  sorted: string;
  onCount: () => void;
  onStop: () => void;
};

/** Which records are seen, of how many, and what is going on. */
export function Footer({ seen, total, loaded, ...props }: Props) {
  const patience = usePatience(props.isSearching);
  const canCount = total !== null && !total.isExact && !props.isRanked;
  return (
    <footer className={style.foot}>
      <span className={style.range}>
        {loaded === 0
          ? ""
          : props.isRanked
            ? t.ranked(loaded)
            : props.isWhole
              ? t.loaded(loaded, total?.value ?? null, total?.isExact ?? false)
              : t.range(
                  seen.first + 1,
                  Math.max(seen.last, seen.first + 1),
                  total?.value ?? null,
                  total?.isExact ?? false,
                )}
      </span>
      {canCount && (
        <Button kind="quiet" onPress={props.onCount} isDisabled={props.isCounting}>
          {props.isCounting ? t.counting : t.countExactly}
        </Button>
      )}
      <span className={style.sortedBy}>{props.sorted}</span>
      <span className={style.patience} role="status">
        {patience === "slow" && t.searching}
        {patience === "very slow" && t.searchingLong}
      </span>
      {patience === "very slow" && <Button onPress={props.onStop}>{t.stop}</Button>}
    </footer>
  );
}
