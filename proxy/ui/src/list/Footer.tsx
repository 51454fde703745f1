import { Button } from "../components/Button";
import { messages } from "../language";
import style from "./ListPage.module.css";
import type { Total } from "./useRecords";

const t = messages.list;
type Props = {
  seen: { first: number; last: number };
  total: Total;
  loaded: number;
  /** It is unknown which of the loaded records are visible. */
  isWhole: boolean;
  isRanked: boolean;
  isCounting: boolean;
  /** The part of the list that is counted; empty for the whole list. */
  from: string;
  sorted: string;
  onCount: () => void;
};

/** The visible range of records and the total. */
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
