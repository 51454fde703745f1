import { TextField } from "../components/Field";
import { messages } from "../language";
import style from "./Details.module.css";
import { checkKey, MAX_CHARACTERS, withSymbols } from "./key";

const t = messages.record;

type Props = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Whether an empty field is an error. */
  isRequired?: boolean;
  autoFocus?: boolean;
  hint?: string;
};

/** A field for an external key that validates it during typing. */
export function KeyField({ label, value, onChange, isRequired = false, autoFocus = false, hint }: Props) {
  const { trimmed, length, removed, controls, invisible } = checkKey(value);
  const keyProblem =
    controls.length > 0
      ? t.keyControls(controls.join(", "))
      : length > MAX_CHARACTERS
        ? t.keyLong
        : isRequired && length === 0 && value !== ""
          ? t.keyEmpty
          : undefined;
  return (
    <div className={style.keyField}>
      <TextField
        label={label}
        isCode
        isRequired={isRequired}
        rows={1}
        value={value}
        onChange={onChange}
        autoFocus={autoFocus}
        error={keyProblem}
        spellCheck="false"
        autoComplete="off"
        onKeyDown={(event) => {
          if (event.key !== "Enter") return event.continuePropagation();
          event.preventDefault();
          (event.target as HTMLElement).closest("form")?.requestSubmit();
        }}
        hint={value === "" ? hint : undefined}
      />
      {value !== "" && (
        <p className={style.hint} aria-live="polite">
          {t.keyLength(length, MAX_CHARACTERS)}
          {removed > 0 && `. ${t.keyTrimmed(removed)}`}
        </p>
      )}
      {invisible.length > 0 && <p className={style.attention}>{t.keyInvisible(invisible.join(", "))}</p>}
      {(controls.length > 0 || invisible.length > 0) && (
        <p className={style.hint}>
          {t.keyAs}: <code dir="auto">{withSymbols(trimmed)}</code>
        </p>
      )}
    </div>
  );
}
