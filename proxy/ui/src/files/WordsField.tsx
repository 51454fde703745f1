import { useState } from "react";
import { TextField } from "../components/Field";
import { wordsOf } from "./cellFormat";

type Props = {
  label: string;
  hint?: string;
  words: string[];
  placeholder?: string;
  onChange: (text: string) => void;
};

/** Comma-separated words on one line. The typed text stays unchanged until `words` changes for another reason. */
export function WordsField({ label, hint, words, placeholder, onChange }: Props) {
  const joined = words.join(", ");
  const [typed, setTyped] = useState({ text: joined, of: joined });
  const text = typed.of === joined ? typed.text : joined;
  return (
    <TextField
      label={label}
      {...(hint === undefined ? {} : { hint })}
      {...(placeholder === undefined ? {} : { placeholder })}
      value={text}
      onChange={(next) => {
        setTyped({ text: next, of: (wordsOf(next) ?? []).join(", ") });
        onChange(next);
      }}
    />
  );
}
