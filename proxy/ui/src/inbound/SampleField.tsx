import type { ReactNode } from "react";
import { prettyJson } from "../api/json";
import { Button } from "../components/Button";
import { TextField } from "../components/Field";
import { pageMessages } from "../language/pages";
import style from "./Mapping.module.css";
import { readSample } from "./trial";

const t = pageMessages.inbound;

type Props = {
  value: string;
  onChange: (text: string) => void;
  hint: string;
  rows: number;
  /** Other actions for a valid sample. */
  actions?: ReactNode;
};

/** A field to paste a payload of the other system into. */
export function SampleField({ value, onChange, hint, rows, actions }: Props) {
  const { payload, error } = readSample(value);
  const formatJson = () => onChange(prettyJson(payload));
  return (
    <div className={style.fields}>
      <TextField
        label={t.sample}
        hint={hint}
        value={value}
        onChange={onChange}
        rows={rows}
        isCode
        spellCheck="false"
        error={error && t.sampleBroken(error)}
      />
      {payload !== undefined && (
        <div className={style.bar}>
          <Button onPress={formatJson}>{t.formatJson}</Button>
          {actions}
        </div>
      )}
    </div>
  );
}
