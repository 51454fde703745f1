import { useEffect, useState } from "react";
import { Form } from "react-aria-components";
import { parseJson, prettyJson } from "../api/json";
import { Button } from "../components/Button";
import { TextField } from "../components/Field";
import { messages } from "../language";
import type { Pending } from "./ConditionForm";
import { type Condition, isCondition, isSame } from "./condition";
import style from "./operand.module.css";

const t = messages.filter;

function read(text: string): { condition: Condition } | { message: string } {
  try {
    const value = parseJson(text);
    return isCondition(value) ? { condition: value } : { message: t.jsonNoCondition };
  } catch {
    return { message: t.jsonBroken };
  }
}

type Props = {
  condition: Condition;
  pending: Pending;
  onDone: (condition: Condition) => void;
  onRemove: (() => void) | undefined;
};

/** A JSON editor for conditions that the form does not support. */
export function JsonForm({ condition, pending, onDone, onRemove }: Props) {
  const [text, setText] = useState(() => prettyJson(condition));
  const [isChecked, setChecked] = useState(false);
  const it = read(text);
  useEffect(() => {
    pending.current = () => ("condition" in it && !isSame(it.condition, condition) ? it.condition : null);
  });
  return (
    <Form
      className={style.form ?? ""}
      onSubmit={(event) => {
        event.preventDefault();
        if ("condition" in it) onDone(it.condition);
        else setChecked(true);
      }}
    >
      <div className={style.part}>
        <TextField
          label={t.json}
          hint={t.jsonHint}
          rows={8}
          isCode
          autoFocus
          value={text}
          onChange={setText}
          error={isChecked && "message" in it ? it.message : undefined}
        />
      </div>
      <footer className={style.foot}>
        {onRemove && (
          <Button kind="quiet" onPress={onRemove}>
            {t.removeThis}
          </Button>
        )}
        <span className={style.gap} />
        <Button kind="main" type="submit">
          {t.apply}
        </Button>
      </footer>
    </Form>
  );
}
