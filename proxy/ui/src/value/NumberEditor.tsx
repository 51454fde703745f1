import { useState } from "react";
import type { Json } from "../api/json";
import { TextField } from "../components/Field";
import { messages } from "../language";
import type { PartProps } from "./editing";
import { isSame, numberOf, textOf } from "./exact";

const t = messages.value;

const read = (typed: string): Json => (typed.trim() === "" ? null : (numberOf(typed) ?? typed));

/** Edits a number with every digit. Other text is kept, and the service rejects it. */
export function NumberEditor({ attribute: _, project: __, value, onChange, error, ...props }: PartProps) {
  const [typed, setTyped] = useState(textOf(value));
  // The typed text stays while it represents the same value, such as "1." before "1.5".
  const shown = isSame(read(typed), value ?? null) ? typed : textOf(value);
  const isNumber = typeof read(shown) !== "string" || shown === "-";
  return (
    <TextField
      {...props}
      inputMode="decimal"
      value={shown}
      error={isNumber ? error : t.noNumber}
      onChange={(text) => {
        setTyped(text);
        onChange(read(text));
      }}
    />
  );
}
