import { LoaderCircle, Search, X } from "lucide-react";
import { type KeyboardEvent, type Ref, useEffect, useId, useRef, useState } from "react";
import { Button, Input, SearchField, ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { messages } from "../language";
import style from "./SearchBar.module.css";
import { SuggestionList } from "./SuggestionList";
import type { Mode } from "./state";
import { completed, moveHighlight, type Suggestion } from "./suggest";
import { useSuggestions } from "./useSuggestions";

const t = messages.list;
/** The maximum length that the service accepts. */
const MAX_LETTERS = 255;

type Props = {
  project: string;
  template: string;
  label: string;
  search: string;
  mode: Mode;
  /** The available search modes; possibly only one. */
  modes: readonly Mode[];
  field: Ref<HTMLInputElement>;
  /** Whether the search takes long enough to show a message. */
  isSlow: boolean;
  onSearch: (search: string) => void;
  onMode: (mode: Mode) => void;
  onLeave: () => void;
};

/** The search field, which searches during typing and completes the last word, and the search mode. */
export function SearchBar({ search, mode, onSearch, ...props }: Props) {
  const [text, setText] = useState(search);
  // Only typed text is completed, not text from the address or a chosen suggestion.
  const [isTyped, setTyped] = useState(false);
  const [active, setActive] = useState<number | null>(null);
  const { items, isExact } = useSuggestions(
    props.project,
    props.template,
    text,
    isTyped && mode !== "meaning",
  );
  const isOpen = items.length > 0;
  const list = useId();
  const sent = useRef(search);
  /** The text before it was cleared, for Ctrl+Z. */
  const cleared = useRef("");

  // The address was changed by the back button, a saved view or "clear".
  useEffect(() => {
    if (search === sent.current) return;
    if (search === "") cleared.current = sent.current;
    sent.current = search;
    setText(search);
    setTyped(false);
  }, [search]);

  const send = (next: string) => {
    sent.current = next;
    onSearch(next);
  };
  // Each keystroke searches immediately and aborts the earlier search.
  const type = (next: string) => {
    if (next === "") cleared.current = text;
    setText(next);
    setTyped(true);
    setActive(null);
    send(next);
  };
  const close = () => {
    setTyped(false);
    setActive(null);
  };
  const take = (suggestion: Suggestion) => {
    const next = completed(text, suggestion).slice(0, MAX_LETTERS);
    close();
    setText(next);
    send(next);
  };
  // Handles keys for the suggestions before the field does.
  const press = (event: KeyboardEvent) => {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    // The browser cannot undo the clearing, because the text is no longer in the field.
    if (key.toLowerCase() === "z" && (ctrlKey || metaKey) && text === "" && cleared.current !== "") {
      event.preventDefault();
      event.stopPropagation();
      return type(cleared.current);
    }
    const isOther = altKey || ctrlKey || metaKey || shiftKey || event.nativeEvent.isComposing;
    if (isOther || !(event.target instanceof HTMLInputElement)) return;
    const chosen = active === null ? undefined : items[active];
    if (key === "Enter" && !chosen) close();
    // Esc first closes the suggestions, then moves to the records. The typed text stays.
    if (key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      return isOpen ? close() : props.onLeave();
    }
    if (!isOpen || !(key === "ArrowDown" || key === "ArrowUp" || (key === "Enter" && chosen))) return;
    event.preventDefault();
    event.stopPropagation();
    if (key === "Enter") return chosen && take(chosen);
    const next = moveHighlight(active, key, items.length);
    if (next !== "records") return setActive(next);
    close();
    props.onLeave();
  };

  return (
    <div className={style.search} onKeyDownCapture={press}>
      <SearchField
        className={style.field ?? ""}
        aria-label={props.label}
        value={text}
        maxLength={MAX_LETTERS}
        autoComplete="off"
        onBlur={close}
        onChange={type}
        onSubmit={send}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") {
            event.preventDefault();
            props.onLeave();
          }
        }}
      >
        <Search size={15} aria-hidden />
        <Input
          ref={props.field}
          className={style.input ?? ""}
          placeholder={props.label}
          title={t.searchHint}
          dir="auto"
          spellCheck={false}
          role="combobox"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-expanded={isOpen}
          aria-controls={isOpen ? list : undefined}
          aria-activedescendant={isOpen && active !== null ? `${list}-${active}` : undefined}
        />
        <span className={style.running} role="status">
          {props.isSlow && (
            <>
              <LoaderCircle size={14} aria-hidden />
              {t.searching}
            </>
          )}
        </span>
        {text === "" ? (
          <kbd className={style.hint} aria-hidden>
            /
          </kbd>
        ) : (
          <Button className={style.clear ?? ""} aria-label={t.clearSearch}>
            <X size={14} aria-hidden />
          </Button>
        )}
        {isOpen && <SuggestionList id={list} items={items} isExact={isExact} active={active} onTake={take} />}
      </SearchField>
      {props.modes.length > 1 && (
        <ToggleButtonGroup
          className={style.modes ?? ""}
          aria-label={t.mode}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[mode]}
          onSelectionChange={([mode]) => props.onMode(mode as Mode)}
        >
          {props.modes.map((mode) => (
            <ToggleButton key={mode} id={mode} className={style.mode ?? ""}>
              {t.modes[mode]}
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
      )}
    </div>
  );
}
