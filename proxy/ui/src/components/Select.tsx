import { Check, ChevronDown } from "lucide-react";
import {
  Select as AriaSelect,
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
} from "react-aria-components";
import { messages } from "../language";
import field from "./Field.module.css";
import { RequiredMark } from "./Required";
import style from "./Select.module.css";

export type Choice<K extends string = string> = { id: K; label: string; hint?: string };

type Props<K extends string> = {
  label: string;
  /** The label is for screen readers only. */
  isLabelHidden?: boolean;
  choices: readonly Choice<K>[];
  value: K | null;
  onChange: (value: K) => void;
  placeholder?: string;
  error?: string | undefined;
  isDisabled?: boolean;
  isRequired?: boolean;
};

/** A choice among a few options. */
export function Select<K extends string>({ label, isLabelHidden, choices, error, ...props }: Props<K>) {
  return (
    <AriaSelect
      validationBehavior="aria"
      className={field.field ?? ""}
      aria-label={isLabelHidden ? label : undefined}
      value={props.value}
      onChange={(key) => key !== null && props.onChange(key as K)}
      isDisabled={props.isDisabled ?? false}
      isRequired={props.isRequired ?? false}
      isInvalid={error !== undefined}
      placeholder={props.placeholder ?? messages.components.choose}
    >
      {!isLabelHidden && (
        <Label className={field.label}>
          {label}
          {props.isRequired && <RequiredMark />}
        </Label>
      )}
      <Button className={style.button ?? ""}>
        <SelectValue className={style.value ?? ""} />
        <ChevronDown size={14} aria-hidden />
      </Button>
      <FieldError className={field.error ?? ""}>{error}</FieldError>
      <Popover className={style.popover ?? ""}>
        <ListBox items={choices} className={style.list ?? ""}>
          {(choice) => (
            <ListBoxItem id={choice.id} textValue={choice.label} className={style.item ?? ""}>
              {({ isSelected }) => (
                <>
                  <span>
                    {choice.label}
                    {choice.hint && <small>{choice.hint}</small>}
                  </span>
                  {isSelected && <Check size={14} aria-hidden />}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
