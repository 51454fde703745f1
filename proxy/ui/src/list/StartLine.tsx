import { ArrowDownWideNarrow, ChevronsUp } from "lucide-react";
import { Button } from "../components/Button";
import { messages } from "../language";
import style from "./ListPage.module.css";
import { type Start, startText } from "./start";

const t = messages.list;

/** The start value of the list, and a button to return to the beginning. */
export function StartLine({ start, onBeginning }: { start: Start; onBeginning: () => void }) {
  return (
    <p className={style.start} role="status">
      <ArrowDownWideNarrow size={14} aria-hidden />
      <span>
        {t.startingAt(start.field.label, startText(start))}
        <small>{start.field.isAlwaysSet ? "" : t.startWithout(start.field.label)}</small>
      </span>
      <Button kind="quiet" icon={ChevronsUp} onPress={onBeginning}>
        {t.fromBeginning}
      </Button>
    </p>
  );
}
