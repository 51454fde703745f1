import { Search, X } from "lucide-react";
import { type Ref, useEffect, useRef, useState } from "react";
import { Button, Input, SearchField, ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { words } from "../language";
import style from "./SearchBar.module.css";
import type { Mode } from "./state";

const t = words.list;
/** The service refuses longer ones. */
const MOST_LETTERS = 255;

type Props = {
  label: string;
  search: string;
  mode: Mode;
  /** The ways to search, of which one may be all. */
  modes: readonly Mode[];
  field: Ref<HTMLInputElement>;
  onSearch: (search: string) => void;
  onMode: (mode: Mode) => void;
  onLeave: () => void;
};

/** The field that searches while one types, and the way to search. */
export function SearchBar({ search, onSearch, ...props }: Props) {
  const [text, setText] = useState(search);
  const sent = useRef(search);

  // The address changed by other means: the back button, a saved view, "clear".
  useEffect(() => {
    if (search === sent.current) return;
    sent.current = search;
    setText(search);
  }, [search]);

  const send = (next: string) => {
    sent.current = next;
    onSearch(next);
  };
  // Each letter searches at once; what it replaces is given up.
  const type = (next: string) => {
    setText(next);
    send(next);
  };

  return (
    <div className={style.search}>
      <SearchField
        className={style.field ?? ""}
        aria-label={props.label}
        value={text}
        maxLength={MOST_LETTERS}
        onChange={type}
        onSubmit={send}
        onKeyDown={(event) => {
          // Esc clears, and leaves an empty field; the arrow leads to the records.
          if ((event.key === "Escape" && text === "") || event.key === "ArrowDown") {
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
        />
        {text === "" ? (
          <kbd className={style.hint} aria-hidden>
            /
          </kbd>
        ) : (
          <Button className={style.clear ?? ""} aria-label={t.clearSearch}>
            <X size={14} aria-hidden />
          </Button>
        )}
      </SearchField>
      {props.modes.length > 1 && (
        <ToggleButtonGroup
          className={style.modes ?? ""}
          aria-label={t.mode}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[props.mode]}
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
