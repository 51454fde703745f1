import { X } from "lucide-react";
import { useState } from "react";
import {
  Button,
  ComboBox,
  Input,
  ListBox,
  ListBoxItem,
  Popover,
  Tag,
  TagGroup,
  TagList,
} from "react-aria-components";
import { Rejection } from "../components/Field";
import { RequiredMark } from "../components/Required";
import { messages } from "../language";
import { ElementField } from "./ElementField";
import { type ElementFieldProps, elementsOf, type PartProps, withElements } from "./editing";
import style from "./editor.module.css";

const t = messages.value;

/** The elements of a list as tags, and a field to add one, from the options if there are any. */
export function ListEditor(props: PartProps) {
  const { attribute, value, onChange, label, isLabelHidden, error, autoFocus, isRequired = false } = props;
  const elements = elementsOf(value);
  const options = attribute.options ?? null;
  const labelOf = (element: string) => options?.find((it) => it.value === element)?.label ?? element;
  // A record keeps values that are no longer options.
  const isRemoved = (element: string) => options !== null && !options.some((it) => it.value === element);
  const change = (next: string[]) => onChange(next.length === 0 ? null : next);
  const add = (more: string[]) => change(withElements(value, more));
  const removeLast = () => elements.length > 0 && change(elements.slice(0, -1));
  const field = {
    label: t.addTo(label),
    onAdd: add,
    onRemoveLast: removeLast,
    autoFocus: autoFocus ?? false,
    isRequired,
  };
  return (
    <div className={style.field}>
      {!isLabelHidden && (
        <span className={style.label}>
          {label}
          {isRequired && <RequiredMark />}
        </span>
      )}
      <div className={`${style.box} ${error ? style.rejected : ""}`}>
        {elements.length > 0 && (
          <TagGroup
            aria-label={label}
            onRemove={(keys) => change(elements.filter((_, index) => !keys.has(index)))}
          >
            <TagList className={style.tags ?? ""}>
              {elements.map((element, index) => (
                <Tag key={index} id={index} textValue={labelOf(element)} className={style.tag ?? ""}>
                  <span dir="auto">{labelOf(element)}</span>
                  {isRemoved(element) && <span className={style.removed}>{t.noOption}</span>}
                  <Button
                    slot="remove"
                    className={style.remove ?? ""}
                    aria-label={t.remove(labelOf(element))}
                  >
                    <X size={12} aria-hidden />
                  </Button>
                </Tag>
              ))}
            </TagList>
          </TagGroup>
        )}
        {options === null ? (
          <ElementField
            {...field}
            project={props.project}
            template={props.owner}
            slug={attribute.slug}
            elements={elements}
          />
        ) : (
          <Options {...field} choices={options.filter((it) => !elements.includes(it.value))} />
        )}
      </div>
      {error && <Rejection>{error}</Rejection>}
    </div>
  );
}

type Option = { value: string; label?: string | null };

function Options({
  label,
  choices,
  onAdd,
  onRemoveLast,
  ...props
}: ElementFieldProps & { choices: Option[] }) {
  const [text, setText] = useState("");
  return (
    <ComboBox
      className={style.combo ?? ""}
      aria-label={label}
      menuTrigger="focus"
      value={null}
      inputValue={text}
      onInputChange={setText}
      autoFocus={props.autoFocus}
      isRequired={props.isRequired}
      validationBehavior="aria"
      onChange={(key) => {
        if (key !== null) onAdd([String(key)]);
        setText("");
      }}
    >
      <Input
        className={style.adding ?? ""}
        placeholder={choices.length === 0 ? t.allChosen : t.chooseElement}
        onKeyDown={(event) => event.key === "Backspace" && text === "" && onRemoveLast()}
      />
      <Popover className={style.popover ?? ""}>
        <ListBox items={choices.map((it) => ({ ...it, id: it.value }))} className={style.list ?? ""}>
          {(choice) => (
            <ListBoxItem textValue={choice.label ?? choice.value} className={style.item ?? ""}>
              <span dir="auto">{choice.label ?? choice.value}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
