import { lazy, Suspense } from "react";
import { Label, Radio, RadioGroup } from "react-aria-components";
import { Rejection, TextField } from "../components/Field";
import { RequiredMark } from "../components/Required";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import type { EditorProps, PartProps } from "./editing";
import style from "./editor.module.css";
import { textOf } from "./exact";
import { ListEditor } from "./ListEditor";
import { NumberEditor } from "./NumberEditor";
import { ReferencePicker } from "./ReferencePicker";

const t = messages.value;

// Loaded on demand: the calendar is large and rarely needed on the first page.
const DateEditor = lazy(() => import("./DateEditor"));
const MetricEditor = lazy(() => import("./MetricEditor"));

/** The editor for the type of an attribute. */
export function ValueEditor(given: EditorProps) {
  const props = { ...given, label: given.label ?? attributeLabel(given.attribute) };
  switch (given.attribute.type) {
    case "number":
      return <NumberEditor {...props} />;
    case "boolean":
      return <BooleanEditor {...props} />;
    case "list":
      return <ListEditor {...props} />;
    case "reference":
      return <ReferencePicker {...props} template={given.attribute.template ?? ""} />;
    case "date":
    case "datetime":
      return (
        <Suspense fallback={<div className={style.waiting} />}>
          <DateEditor {...props} />
        </Suspense>
      );
    case "metric":
      return (
        <Suspense fallback={<div className={style.waiting} />}>
          <MetricEditor {...props} />
        </Suspense>
      );
    default:
      return <TextEditor {...props} />;
  }
}

const MULTILINE_ROWS = 4;

/** Edits text of any length. The field grows with its lines. An empty field means no value. */
function TextEditor({ attribute, project: _, owner: __, value, onChange, ...props }: PartProps) {
  return (
    <TextField
      {...props}
      rows={attribute.format?.kind === "multiline" ? MULTILINE_ROWS : 1}
      value={textOf(value)}
      onChange={(text) => onChange(text === "" ? null : text)}
    />
  );
}

/** Yes or no, or no value unless it is required. */
function BooleanEditor(props: PartProps) {
  const { attribute, value, onChange, label, isLabelHidden, error, autoFocus, isRequired = false } = props;
  const state = value === true ? "yes" : value === false ? "no" : "none";
  const states = attribute.required ? (["yes", "no"] as const) : (["yes", "no", "none"] as const);
  return (
    <RadioGroup
      className={style.field ?? ""}
      orientation="horizontal"
      value={attribute.required && state === "none" ? null : state}
      onChange={(next) => onChange(next === "none" ? null : next === "yes")}
      isInvalid={error !== undefined}
      isRequired={isRequired}
      validationBehavior="aria"
      {...(isLabelHidden ? { "aria-label": label } : {})}
    >
      {!isLabelHidden && (
        <Label className={style.label}>
          {label}
          {isRequired && <RequiredMark />}
        </Label>
      )}
      <div className={style.segments}>
        {states.map((id) => (
          <Radio
            key={id}
            value={id}
            className={style.segment ?? ""}
            autoFocus={autoFocus && (id === state || (state === "none" && id === "yes"))}
          >
            {t.states[id]}
          </Radio>
        ))}
      </div>
      {error && <Rejection>{error}</Rejection>}
    </RadioGroup>
  );
}
