import { Button } from "../components/Button";
import { words } from "../language";
import style from "./ListPage.module.css";
import type { Total } from "./useRecords";

const t = words.list;
type Props = {
  seen: { first: number; last: number };
  total: Total;
  loaded: number;
  /** Which of the loaded records are seen is not known. */
  isWhole: boolean;
  isRanked: boolean;
  isCounting: boolean;
  /** Which part of the list is counted; empty for the whole list. */
  from: string;
  sorted: string;
  onCount: () => void;
};

/** Which records are seen, and of how many. */
export function Footer({ seen, total, loaded, ...props }: Props) {
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
        {loaded > 0 && total !== null && props.from}
      </span>
      {canCount && (
        <Button kind="quiet" onPress={props.onCount} isDisabled={props.isCounting}>
          {props.isCounting ? t.counting : t.countExactly}
        </Button>
      )}
      <span className={style.sortedBy}>{props.sorted}</span>
    </footer>
  );
}
