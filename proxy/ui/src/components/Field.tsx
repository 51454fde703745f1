import type { ReactNode } from "react";
import {
  Text as AriaText,
  TextField as AriaTextField,
  FieldError,
  Input,
  Label,
  TextArea,
  type TextFieldProps,
} from "react-aria-components";
import style from "./Field.module.css";
import { RequiredMark } from "./Required";

type Props = Omit<TextFieldProps, "className" | "children"> & {
  label: string;
  /** The label is for screen readers only. */
  isLabelHidden?: boolean;
  /** The hint below the field. */
  hint?: ReactNode;
  /** The error message below the field. */
  error?: string | undefined;
  placeholder?: string;
  rows?: number;
  /** Monospaced, for identifiers and code. */
  isCode?: boolean;
};

/** A text field with its label; with `rows`, a multi-line one. */
export function TextField({ label, isLabelHidden, hint, error, placeholder, rows, isCode, ...props }: Props) {
  const shape = `${style.input} ${isCode ? style.code : ""}`;
  return (
    <AriaTextField
      // A form can be submitted again after errors from the service.
      validationBehavior="aria"
      {...props}
      isInvalid={props.isInvalid ?? error !== undefined}
      className={style.field ?? ""}
    >
      <Label className={isLabelHidden ? "visually-hidden" : style.label}>
        {label}
        {props.isRequired && <RequiredMark />}
      </Label>
      {rows === undefined ? (
        <Input className={shape} placeholder={placeholder} dir="auto" />
      ) : (
        <TextArea
          className={`${shape} ${style.area} ${rows === 1 ? style.single : ""}`}
          style={rows === 1 ? {} : { minHeight: `calc(${rows}lh + 18px)` }}
          rows={rows}
          placeholder={placeholder}
          dir="auto"
        />
      )}
      {hint !== undefined && (
        <AriaText slot="description" className={style.hint ?? ""}>
          {hint}
        </AriaText>
      )}
      <FieldError className={style.error ?? ""}>{error}</FieldError>
    </AriaTextField>
  );
}

/** An error message for a control without a field. */
export function Rejection({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className={style.error}>
      {children}
    </p>
  );
}
