import { Plus, X } from "lucide-react";
import { Button, IconButton } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Rejection, TextField } from "../components/Field";
import { pageMessages } from "../language/pages";
import type { Option } from "./draft";
import style from "./template.module.css";

const t = pageMessages.template;

type Props = { options: Option[] | null; setOptions: (options: Option[] | null) => void; error?: string };

/** The options of a list: values and labels. */
export function OptionsEditor({ options, setOptions, error }: Props) {
  const set = (index: number, more: Partial<Option>) =>
    setOptions(options?.map((it, at) => (at === index ? { ...it, ...more } : it)) ?? null);
  return (
    <fieldset className={style.group}>
      <legend>{t.options}</legend>
      <Checkbox
        isSelected={options !== null}
        onChange={(isLimited) => setOptions(isLimited ? [{ value: "", label: "" }] : null)}
      >
        {t.optionsOnly}
      </Checkbox>
      {options === null && <p className={style.note}>{t.optionsHint}</p>}
      {options?.map((option, index) => (
        <div key={index} className={style.option}>
          <TextField
            label={t.option(index + 1)}
            isLabelHidden
            value={option.value}
            onChange={(value) => set(index, { value })}
            isCode
          />
          <TextField
            label={t.optionLabel(index + 1)}
            isLabelHidden
            placeholder={t.optionLabelPlaceholder}
            value={option.label}
            onChange={(label) => set(index, { label })}
          />
          <IconButton
            icon={X}
            label={t.removeOption(option.value)}
            onPress={() => setOptions(options.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {options !== null && (
        <div>
          <Button icon={Plus} onPress={() => setOptions([...options, { value: "", label: "" }])}>
            {t.addOption}
          </Button>
        </div>
      )}
      {error && <Rejection>{error}</Rejection>}
    </fieldset>
  );
}
