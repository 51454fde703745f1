import { ChevronDown } from "lucide-react";
import {
  Text as AriaText,
  Button,
  ComboBox,
  FieldError,
  Group,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
} from "react-aria-components";
import style from "./ComboField.module.css";
import field from "./Field.module.css";
import select from "./Select.module.css";

type Props = {
  label: string;
  hint?: string;
  error?: string | undefined;
  choices: readonly string[];
  value: string;
  onChange: (value: string) => void;
};

/** A text field with suggestions to choose from. Any typed text is accepted. */
export function ComboField({ label, hint, error, choices, value, onChange }: Props) {
  return (
    <ComboBox
      className={field.field ?? ""}
      allowsCustomValue
      menuTrigger="focus"
      inputValue={value}
      onInputChange={onChange}
      defaultItems={choices.map((id) => ({ id }))}
      validationBehavior="aria"
      isInvalid={error !== undefined}
    >
      <Label className={field.label ?? ""}>{label}</Label>
      <Group className={style.group ?? ""}>
        <Input className={field.input ?? ""} />
        <Button className={style.button ?? ""}>
          <ChevronDown size={14} aria-hidden />
        </Button>
      </Group>
      {hint !== undefined && (
        <AriaText slot="description" className={field.hint ?? ""}>
          {hint}
        </AriaText>
      )}
      <FieldError className={field.error ?? ""}>{error}</FieldError>
      <Popover className={select.popover ?? ""}>
        <ListBox className={select.list ?? ""}>
          {({ id }: { id: string }) => (
            <ListBoxItem id={id} textValue={id} className={select.item ?? ""}>
              {id}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
