import { Check, Plus, X } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import {
  Autocomplete,
  Button,
  Collection,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  type Selection,
  Tag,
  TagGroup,
  TagList,
  TextField,
} from "react-aria-components";
import { type Json, renderJson } from "../api/json";
import { sentence as sentenceOf } from "../api/problem";
import { COMBOBOX, readEnterPress } from "../components/combobox";
import { messages } from "../language";
import { number } from "../language/plural";
import { type Choice, useChoices } from "./choices";
import type { Field } from "./fields";
import style from "./operand.module.css";

const t = messages.filter;

/** Typed text is a value too, unless the values are records or options. */
export const takesTyped = (field: Field): boolean =>
  field.kind !== "reference" && !(field.kind === "list" && field.attribute?.options);

type Props = {
  project: string;
  field: Field;
  label: string;
  isMany: boolean;
  values: (Json | null)[];
  onChange: (values: Json[]) => void;
  /** Text that is typed but not chosen yet. */
  typed: string;
  onType: (text: string) => void;
  nameOf: (value: Json) => string;
  placeholder: string;
  /** Enter in the empty field. */
  onEnter: () => void;
};

/** One or several values, chosen from the existing ones or typed. */
export function ChoiceOperand({
  field,
  isMany,
  values,
  onChange,
  typed,
  onType,
  nameOf,
  onEnter,
  ...props
}: Props) {
  const { items, isLoading, error } = useChoices(props.project, field, typed);
  const [names, setNames] = useState(new Map<string, string>());
  const given = values.filter((value): value is Json => value !== null && value !== "");
  const chosen = given.map((value) => ({ id: renderJson(value), value }));
  const isChosen = new Set(chosen.map((it) => it.id));
  const text = typed.trim();
  const own: Choice[] =
    text !== "" && takesTyped(field) && !items.some((it) => it.label === text)
      ? [{ value: text, label: t.addValue(text) }]
      : [];
  const shown = [...items, ...own].map((it) => ({ ...it, id: renderJson(it.value) }));

  const name = (id: string, value: Json) => names.get(id) ?? nameOf(value);
  const choose = (it: (typeof shown)[number]) => {
    setNames(new Map(names).set(it.id, own.some(({ value }) => value === it.value) ? text : it.label));
    if (isMany) {
      const others = given.filter((value) => renderJson(value) !== it.id);
      onChange(isChosen.has(it.id) ? others : [...others, it.value]);
    } else {
      onChange([it.value]);
    }
    onType("");
  };
  const paste = (event: React.ClipboardEvent) => {
    const lines = event.clipboardData.getData("text/plain").split(/\r?\n/);
    const texts = [...new Set(lines.map((it) => it.trim()).filter(Boolean))];
    if (!isMany || !takesTyped(field) || texts.length < 2) return;
    event.preventDefault();
    onChange([...given, ...texts.filter((it) => !isChosen.has(renderJson(it)))]);
  };
  const press = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLInputElement)) return;
    const enter = readEnterPress(event);
    if (enter) {
      const entry = shown.find(({ id }) => id === enter.active);
      // Fast typists press Enter before the list is updated. Its old entries must not be chosen.
      const isMeant = (it: Choice) => !takesTyped(field) || it.value === text || isNamed(it, text);
      if (text === "" && enter.active === null) onEnter();
      else if (entry && (text === "" || (!isLoading && isMeant(entry)))) choose(entry);
      else if (text === "") return;
      else if (own.length > 0) choose({ ...(own[0] as Choice), id: renderJson(text) });
      else if (!isLoading && shown[0]) choose(shown[0]);
    }
    if (event.key === "Backspace" && typed === "" && given.length > 0) onChange(given.slice(0, -1));
  };
  const select = (keys: Selection) => {
    if (keys === "all") return;
    const toggled = shown.find(({ id }) => keys.has(id) !== isChosen.has(id));
    if (toggled) choose(toggled);
  };

  return (
    <div className={style.choice} onKeyDownCapture={press}>
      {chosen.length > 0 && (
        <TagGroup
          aria-label={t.chosen}
          onRemove={(keys) => onChange(given.filter((value) => !keys.has(renderJson(value))))}
        >
          <TagList items={chosen} className={style.chosen ?? ""} dependencies={[names, nameOf]}>
            {({ id, value }) => (
              <Tag textValue={name(id, value)} className={style.tag ?? ""}>
                <span dir="auto">{name(id, value)}</span>
                <Button
                  slot="remove"
                  excludeFromTabOrder
                  className={style.removeValue ?? ""}
                  aria-label={t.removeValue(name(id, value))}
                >
                  <X size={12} aria-hidden />
                </Button>
              </Tag>
            )}
          </TagList>
        </TagGroup>
      )}
      <Autocomplete inputValue={typed} onInputChange={onType}>
        <TextField className={style.search ?? ""} autoFocus>
          <Label className="visually-hidden">{props.label}</Label>
          <Input
            {...COMBOBOX}
            className={style.input ?? ""}
            placeholder={props.placeholder}
            dir="auto"
            onPaste={paste}
          />
        </TextField>
        <ListBox
          aria-label={props.label}
          className={style.list ?? ""}
          selectionMode={isMany ? "multiple" : "single"}
          selectedKeys={isChosen}
          onSelectionChange={select}
          renderEmptyState={() => (
            <p className={style.note}>{error ? sentenceOf(error) : note(field, isLoading, text)}</p>
          )}
        >
          <Collection items={shown} dependencies={[isChosen]}>
            {(it) => (
              <ListBoxItem id={it.id} textValue={it.label} className={style.item ?? ""}>
                <span className={style.mark}>
                  {isChosen.has(it.id) && <Check size={14} aria-hidden />}
                  {it.value === text && own.length > 0 && <Plus size={14} aria-hidden />}
                </span>
                <span className={style.name} dir="auto">
                  {it.label}
                </span>
                {it.hint !== undefined && (
                  <code className={style.hint} dir="auto">
                    {it.hint}
                  </code>
                )}
                {it.count !== undefined && <span className={style.count}>{number(it.count)}</span>}
              </ListBoxItem>
            )}
          </Collection>
        </ListBox>
      </Autocomplete>
    </div>
  );
}

const isNamed = ({ label }: Choice, text: string) =>
  label.toLocaleLowerCase().includes(text.toLocaleLowerCase());

function note(field: Field, isLoading: boolean, text: string): string {
  if (isLoading) return "…";
  if (field.kind === "reference") return t.noRecords;
  return takesTyped(field) && text === "" ? t.pasteHint : t.noValues;
}
