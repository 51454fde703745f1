import { type ClipboardEvent, type KeyboardEvent, useId, useState } from "react";
import { Input } from "react-aria-components";
import { messages } from "../language";
import type { ElementFieldProps } from "./editing";
import style from "./editor.module.css";
import { matchingValues, useExisting } from "./existing";

const t = messages.value;

type Props = ElementFieldProps & {
  project: string;
  /** The template whose records provide suggestions. */
  template: string | undefined;
  slug: string;
  /** The current elements of the list. */
  elements: readonly string[];
};

/** Enter adds the typed text or the selected suggestion. Pasting several lines adds several elements. */
export function ElementField({ label, onAdd, onRemoveLast, autoFocus, isRequired, elements, ...of }: Props) {
  const [text, setText] = useState("");
  const [isFocused, setFocused] = useState(false);
  const [active, setActive] = useState<number | null>(null);
  const existing = useExisting(of.project, of.template, of.slug, isFocused);
  const shown = isFocused ? matchingValues(existing, text, elements) : [];
  const list = useId();
  const type = (next: string) => {
    setText(next);
    setActive(null);
  };
  const take = (element: string) => {
    if (element !== "") onAdd([element]);
    type("");
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const element = (active === null ? undefined : shown[active]) ?? text;
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      // The field itself comes after the last and before the first suggestion.
      const next = (active ?? (step === 1 ? -1 : shown.length)) + step;
      setActive(next in shown ? next : null);
    } else if (event.key === "Enter" && element !== "") {
      event.preventDefault();
      event.stopPropagation();
      take(element);
    } else if (event.key === "Escape" && active !== null) {
      event.preventDefault();
      event.stopPropagation();
      setActive(null);
    } else if (event.key === "Backspace" && text === "") onRemoveLast();
  };
  const paste = (event: ClipboardEvent) => {
    const lines = event.clipboardData.getData("text").split(/\r?\n/).filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    onAdd(lines);
  };
  return (
    <div className={style.combo}>
      <Input
        className={style.adding ?? ""}
        aria-label={label}
        placeholder={t.addElement}
        data-adds="text"
        autoFocus={autoFocus}
        aria-required={isRequired}
        dir="auto"
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={shown.length > 0}
        aria-controls={shown.length > 0 ? list : undefined}
        aria-activedescendant={active !== null && active < shown.length ? `${list}-${active}` : undefined}
        value={text}
        onChange={(event) => type(event.target.value)}
        onKeyDown={press}
        onPaste={paste}
        onFocus={() => setFocused(true)}
        onBlur={() => {
          take(text);
          setFocused(false);
        }}
      />
      {shown.length > 0 && (
        <div
          id={list}
          role="listbox"
          tabIndex={-1}
          aria-label={t.existing}
          className={style.existing}
          onMouseDown={(event) => event.preventDefault()}
        >
          {shown.map((element, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            <div
              key={element}
              id={`${list}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === active}
              className={style.existingItem}
              onClick={() => take(element)}
              dir="auto"
            >
              {element}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
