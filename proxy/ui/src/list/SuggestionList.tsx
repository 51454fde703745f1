import { messages } from "../language";
import style from "./SearchBar.module.css";
import type { Suggestion } from "./suggest";

const t = messages.list;

type Props = {
  id: string;
  items: readonly Suggestion[];
  /** Whether the counts cover all records. Counts of a sample would look wrong next to the total. */
  isExact: boolean;
  active: number | null;
  onTake: (suggestion: Suggestion) => void;
};

/** Terms that complete the typed text. The focus and the key events stay in the field. */
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
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
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
