import { Label, Radio, RadioGroup } from "react-aria-components";
import style from "./Choices.module.css";

type Props<K extends string> = {
  label: string;
  choices: readonly { id: K; label: string }[];
  value: K;
  onChange: (value: K) => void;
};

/** Two or three radio buttons, all visible. */
export function Choices<K extends string>({ label, choices, value, onChange }: Props<K>) {
  return (
    <RadioGroup className={style.group ?? ""} value={value} onChange={(it) => onChange(it as K)}>
      <Label>{label}</Label>
      {choices.map((choice) => (
        <Radio key={choice.id} value={choice.id} className={style.radio ?? ""}>
          {choice.label}
        </Radio>
      ))}
    </RadioGroup>
  );
}
