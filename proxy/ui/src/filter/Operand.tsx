import { lazy, Suspense, useState } from "react";
import { Radio, RadioGroup } from "react-aria-components";
import type { Json } from "../api/json";
import { Checkbox } from "../components/Checkbox";
import { TextField } from "../components/Field";
import { messages } from "../language";
import editor from "../value/editor.module.css";
import { textOf } from "../value/exact";
import { ChoiceOperand } from "./ChoiceOperand";
import type { Draft } from "./draft";
import style from "./operand.module.css";
import { arity } from "./operators";

// Loaded on demand, because the calendar is large.
const DateEditor = lazy(() => import("../value/DateEditor"));

const t = messages.filter;

export type OperandProps = {
  project: string;
  draft: Draft;
  onChange: (values: (Json | null)[]) => void;
  typed: string;
  onType: (text: string) => void;
  nameOf: (value: Json) => string;
  /** Enter, unless it chooses a value. */
  onEnter: () => void;
  /** The error of the value at a position. */
  error: { message: string; index: number } | null;
};

/** The input for the field and the operator. */
export function Operand(props: OperandProps) {
  const { draft, onChange, error } = props;
  const { field, operator, values } = draft;
  const takes = arity(operator);
  if (takes === "none") return null;
  const isExact = operator === "eq" || operator === "neq" || takes === "many";

  if (field.kind === "boolean")
    return <YesOrNo value={values[0] ?? null} onChange={(it) => onChange([it])} error={error} />;
  const isDate = field.kind === "date" || field.kind === "datetime";
  if (isExact && !isDate && (takes === "many" || field.kind !== "number")) {
    const placeholder = field.kind === "reference" || !takesText(draft) ? t.searchOptions : t.searchValues;
    return (
      <div className={style.part}>
        <ChoiceOperand
          project={props.project}
          field={field}
          label={takes === "many" ? t.values : t.value}
          isMany={takes === "many"}
          values={values}
          onChange={onChange}
          typed={props.typed}
          onType={props.onType}
          nameOf={props.nameOf}
          placeholder={placeholder}
          onEnter={props.onEnter}
        />
        {error && (
          <p className={style.fault} role="alert">
            {error.message}
          </p>
        )}
      </div>
    );
  }
  const indexes = takes === "two" ? [0, 1] : [0];
  return (
    <div className={style.part}>
      {indexes.map((index) => {
        const change = (value: Json | null) => {
          const next = indexes.map((it) => values[it] ?? null);
          next[index] = value;
          onChange(next);
        };
        const part = {
          label: indexes.length === 1 ? t.value : index === 0 ? t.from : t.to,
          isLabelHidden: indexes.length === 1,
          error: error?.index === index ? error.message : undefined,
          autoFocus: index === 0,
        };
        const value = values[index] ?? null;
        return isDate ? (
          <Moment key={index} {...props} {...part} value={value} onChange={change} />
        ) : (
          <TextField
            key={index}
            {...part}
            value={textOf(value ?? undefined)}
            onChange={change}
            {...(field.kind === "number" ? { inputMode: "decimal" as const } : {})}
            isCode={field.kind === "external_key"}
          />
        );
      })}
    </div>
  );
}

const takesText = ({ field }: Draft) => !(field.kind === "list" && field.attribute?.options);

/** Yes or no. */
function YesOrNo({
  value,
  onChange,
  error,
}: {
  value: Json;
  onChange: (value: boolean) => void;
  error: OperandProps["error"];
}) {
  return (
    <div className={style.part}>
      <RadioGroup
        aria-label={t.value}
        orientation="horizontal"
        value={value === null ? null : value ? "yes" : "no"}
        onChange={(next) => onChange(next === "yes")}
      >
        <div className={editor.segments}>
          {(["yes", "no"] as const).map((id) => (
            <Radio
              key={id}
              value={id}
              className={editor.segment ?? ""}
              autoFocus={id === (value === false ? "no" : "yes")}
            >
              {t[id]}
            </Radio>
          ))}
        </div>
      </RadioGroup>
      {error && (
        <p className={style.fault} role="alert">
          {error.message}
        </p>
      )}
    </div>
  );
}

type MomentProps = {
  project: string;
  draft: Draft;
  label: string;
  isLabelHidden: boolean;
  error: string | undefined;
  autoFocus: boolean;
  value: Json | null;
  onChange: (value: Json | null) => void;
};

/** A day; for times also a time of day. A day includes all its moments. */
function Moment({ project, draft, value, onChange, ...props }: MomentProps) {
  const hasTime = typeof value === "string" && value.includes("T");
  const [isTime, setTime] = useState(hasTime);
  const type = isTime ? "datetime" : "date";
  const attribute = { slug: draft.field.slug, type, label: draft.field.label, required: true } as const;
  return (
    <>
      <Suspense fallback={<div className={editor.waiting} />}>
        <DateEditor
          key={type}
          {...props}
          project={project}
          attribute={attribute}
          value={value}
          onChange={(next) => onChange(next ?? null)}
        />
      </Suspense>
      {draft.field.kind === "datetime" && (
        <Checkbox
          isSelected={isTime}
          onChange={(on) => {
            setTime(on);
            if (typeof value === "string") onChange(on ? atMidnight(value) : dayOf(value));
          }}
        >
          {t.withTime}
        </Checkbox>
      )}
    </>
  );
}

/** The beginning of a day in the user's time zone. */
function atMidnight(day: string): string {
  const date = new Date(`${day.slice(0, 10)}T00:00:00`);
  return Number.isNaN(date.getTime()) ? day : date.toISOString();
}

/** The day of a moment in the user's time zone. */
function dayOf(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime()) || !time.includes("T")) return time.slice(0, 10);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${date.getFullYear().toString().padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
