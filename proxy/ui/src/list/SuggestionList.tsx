import { words } from "../language";
import style from "./SearchBar.module.css";
import type { Suggestion } from "./suggest";

const t = words.list;

type Props = {
  id: string;
  items: readonly Suggestion[];
  /** Whether the numbers are those of all records. Those of some of them would look wrong beside the number found. */
  isExact: boolean;
  active: number | null;
  onTake: (suggestion: Suggestion) => void;
};

/** Words that complete what is typed. The field keeps the focus, and has the keys. */
export function SuggestionList({ id, items, isExact, active, onTake }: Props) {
  return (
    <div
      id={id}
      role="listbox"
      tabIndex={-1}
      aria-label={t.suggestions}
      className={style.suggestions}
      onMouseDown={(event) => event.preventDefault()}
    >
      {items.map((it, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
        <div
          key={it.text}
          id={`${id}-${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === active}
          className={style.suggestion}
          onClick={() => onTake(it)}
        >
          <span dir="auto">{it.text}</span>{" "}
          {isExact && (
            <span className={style.frequency}>
              <span aria-hidden>{t.holdersShort(it.count)}</span>
              <span className="visually-hidden">{t.holders(it.count)}</span>
            </span>
          )}
        </div>
      ))}
    </div>
  );
}
