import { ChevronDown, ChevronLeft } from "lucide-react";
import { type KeyboardEvent, type RefObject, useEffect, useState } from "react";
import {
  Button as AriaButton,
  Select as AriaSelect,
  Header,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  Popover,
  SelectValue,
} from "react-aria-components";
import { Button } from "../components/Button";
import select from "../components/Select.module.css";
import { messages } from "../language";
import { takesTyped } from "./ChoiceOperand";
import type { Condition } from "./condition";
import { check, type Draft, withOperator } from "./draft";
import type { Field } from "./fields";
import { Operand } from "./Operand";
import style from "./operand.module.css";
import { arity, type Operator, offered } from "./operators";
import { type Context, named } from "./sentence";

const t = messages.filter;

/** The name of the operator for this kind of field, from the specification. */
export function operatorName(operator: Operator, { kind }: Field): string {
  const own: Partial<Record<Operator, string>> =
    kind === "number"
      ? t.numberOperators
      : kind === "date" || kind === "datetime"
        ? t.dateOperators
        : kind === "reference"
          ? t.referenceOperators
          : kind === "external_key"
            ? t.keyOperators
            : {};
  return own[operator] ?? t.operators[operator];
}

/** The result of a form that closes on a click outside: its condition, if complete and changed. */
export type Pending = RefObject<(() => Condition | null) | null>;

type Props = {
  project: string;
  context: Context;
  initial: Draft;
  pending: Pending;
  onDone: (condition: Condition) => void;
  onChooseField: () => void;
  onRemove: (() => void) | undefined;
};

/** A form for attribute, operator and value. */
export function ConditionForm({
  project,
  context,
  initial,
  pending,
  onDone,
  onChooseField,
  onRemove,
}: Props) {
  const [draft, setDraft] = useState(initial);
  const [typed, setTyped] = useState("");
  const [isChecked, setChecked] = useState(false);
  const whole = withTyped(draft, typed);
  const checked = check(whole);
  /** The form is complete. */
  const isWhole = arity(draft.operator) === "none";
  const isChanged = draft !== initial || typed.trim() !== "";
  useEffect(() => {
    pending.current = () => (isChanged && "condition" in checked ? checked.condition : null);
  });
  const done = () => ("condition" in checked ? onDone(checked.condition) : setChecked(true));
  const press = (event: KeyboardEvent) => {
    // In a date field and on a button, Enter has another meaning.
    const { target } = event;
    const isInDate = target instanceof HTMLElement && target.role === "spinbutton";
    const isAtRadio = target instanceof HTMLInputElement && target.type === "radio";
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || isInDate || isAtRadio)) {
      event.preventDefault();
      done();
    }
  };
  return (
    <form
      className={style.form ?? ""}
      onKeyDownCapture={press}
      onSubmit={(event) => {
        event.preventDefault();
        done();
      }}
    >
      <div className={style.head}>
        <AriaButton className={style.field ?? ""} onPress={onChooseField}>
          <ChevronLeft size={14} aria-hidden />
          <span dir="auto">{draft.field.label}</span>
        </AriaButton>
        <OperatorSelect
          draft={draft}
          onChange={(operator) => {
            setDraft(withOperator(whole, operator));
            setTyped("");
            setChecked(false);
          }}
        />
      </div>
      <Operand
        key={draft.operator}
        project={project}
        draft={draft}
        onChange={(values) => setDraft({ ...draft, values })}
        typed={typed}
        onType={setTyped}
        onEnter={done}
        nameOf={(value) => named(value, draft.field, context)}
        error={isChecked && "message" in checked ? checked : null}
      />
      <footer className={style.foot}>
        {onRemove && (
          <Button kind="quiet" onPress={onRemove}>
            {t.removeThis}
          </Button>
        )}
        <span className={style.gap} />
        <Button key={String(isWhole)} kind="main" type="submit" autoFocus={isWhole}>
          {t.apply}
        </Button>
      </footer>
    </form>
  );
}

/** The draft with the text that is typed in its search field but not chosen yet. */
function withTyped(draft: Draft, typed: string): Draft {
  const text = typed.trim();
  const takes = arity(draft.operator);
  if (text === "" || !takesTyped(draft.field) || draft.values.includes(text)) return draft;
  if (takes === "many") return { ...draft, values: [...draft.values, text] };
  return takes === "one" ? { ...draft, values: [text] } : draft;
}

function OperatorSelect({ draft, onChange }: { draft: Draft; onChange: (operator: Operator) => void }) {
  const { first, more } = offered(draft.field);
  const item = (operator: Operator) => (
    <ListBoxItem
      key={operator}
      id={operator}
      textValue={operatorName(operator, draft.field)}
      className={select.item ?? ""}
    >
      {operatorName(operator, draft.field)}
    </ListBoxItem>
  );
  return (
    <AriaSelect
      aria-label={t.operator}
      className={style.operator ?? ""}
      value={draft.operator}
      onChange={(key) => key !== null && onChange(key as Operator)}
    >
      <AriaButton className={select.button ?? ""}>
        <SelectValue className={select.value ?? ""} />
        <ChevronDown size={14} aria-hidden />
      </AriaButton>
      <Popover className={select.popover ?? ""}>
        <ListBox className={select.list ?? ""}>
          {first.map(item)}
          {more.length > 0 && (
            <ListBoxSection className={style.section ?? ""}>
              <Header className={style.sectionTitle}>{t.moreOperators}</Header>
              {more.map(item)}
            </ListBoxSection>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
