import { ChevronDown } from "lucide-react";
import {
  Button,
  ComboBox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
} from "react-aria-components";
import field from "../components/Field.module.css";
import { RequiredMark } from "../components/Required";
import list from "../components/Select.module.css";
import { pageMessages } from "../language/pages";
import style from "./Mapping.module.css";
import type { SamplePath } from "./sample";

type Props = {
  label: string;
  isLabelHidden?: boolean;
  isRequired?: boolean;
  hint?: string;
  value: string;
  onChange: (path: string) => void;
  /** The paths that exist in the sample. */
  paths: readonly SamplePath[];
  placeholder?: string;
  error?: string | undefined;
};

/** A path, typed or chosen from those in the sample. */
export function PathField({
  label,
  isLabelHidden,
  isRequired = false,
  hint,
  value,
  onChange,
  paths,
  placeholder,
  error,
}: Props) {
  return (
    <ComboBox
      className={field.field ?? ""}
      aria-label={isLabelHidden ? label : undefined}
      inputValue={value}
      onInputChange={onChange}
      defaultItems={paths}
      menuTrigger="manual"
      allowsCustomValue
      isInvalid={error !== undefined}
      isRequired={isRequired}
      validationBehavior="aria"
    >
      {!isLabelHidden && (
        <Label className={field.label}>
          {label}
          {isRequired && <RequiredMark />}
        </Label>
      )}
      <div className={style.path}>
        <Input
          className={`${field.input} ${field.code}`}
          placeholder={placeholder}
          spellCheck={false}
          dir="ltr"
        />
        {paths.length > 0 && (
          <Button className={style.choose ?? ""} aria-label={pageMessages.inbound.choosePath}>
            <ChevronDown size={14} aria-hidden />
          </Button>
        )}
      </div>
      {hint !== undefined && <span className={field.hint}>{hint}</span>}
      <FieldError className={field.error ?? ""}>{error}</FieldError>
      <Popover className={list.popover ?? ""}>
        <ListBox className={list.list ?? ""}>
          {({ path, example }: SamplePath) => (
            <ListBoxItem id={path} textValue={path} className={list.item ?? ""}>
              <span>
                <code>{path}</code>
                <small dir="auto">{example}</small>
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
