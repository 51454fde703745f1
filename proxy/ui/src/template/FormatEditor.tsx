import { exact } from "../api/json";
import { Rejection, TextField } from "../components/Field";
import { Select } from "../components/Select";
import { dateText, datetimeText } from "../format/date";
import { type Format, numberText } from "../format/number";
import { pageMessages } from "../language/pages";
import type { AttributeType } from "./draft";
import style from "./template.module.css";

const t = pageMessages.template.format;

type PartProps = { format: Format; setFormat: (format: Format) => void };
type Props = PartProps & { type: AttributeType; error: string | undefined };

const EXAMPLES: Record<string, (format: Format) => string> = {
  number: (format) => numberText(exact("1234.5"), format),
  metric: (format) => numberText(exact("1234.5"), format),
  date: ({ pattern }) => dateText("2026-01-31", pattern),
  datetime: ({ pattern }) => datetimeText("2026-01-31T14:05:09Z", pattern),
};

/** The display format of an attribute, with an example. */
export function FormatEditor({ type, error, ...props }: Props) {
  const Part = PARTS[type];
  if (!Part) return null;
  const example = EXAMPLES[type];
  return (
    <fieldset className={style.group}>
      <legend>{t.title}</legend>
      <Part {...props} />
      <p className={style.note}>
        {example && <>{t.example(example(props.format))} </>}
        {t.hint}
      </p>
      {error && <Rejection>{error}</Rejection>}
    </fieldset>
  );
}

const SIGNS = ["none", "unit", "currency", "percent"] as const;
type Sign = (typeof SIGNS)[number];
const GROUPINGS = ["automatic", "yes", "no"] as const;
const DECIMALS = [0, 1, 2, 3, 4, 5, 6];
const ALL_DIGITS = "all";

const signOf = ({ unit, currency, percent }: Format): Sign =>
  percent ? "percent" : currency !== undefined ? "currency" : unit !== undefined ? "unit" : "none";

function NumberFormat({ format, setFormat }: PartProps) {
  const { unit: _, currency: __, percent: ___, ...plain } = format;
  const { grouping: ____, ...ungrouped } = format;
  const { decimals, ...exactly } = format;
  const choices = [...new Set([...DECIMALS, ...(decimals === undefined ? [] : [decimals])])];
  const sign = signOf(format);
  const begun = { none: {}, unit: { unit: "" }, currency: { currency: "" }, percent: { percent: true } };
  return (
    <>
      <div className={style.pair}>
        <Select<(typeof GROUPINGS)[number]>
          label={t.grouping}
          choices={GROUPINGS.map((id) => ({ id, label: t.groupings[id] }))}
          value={format.grouping === undefined ? "automatic" : format.grouping ? "yes" : "no"}
          onChange={(id) => setFormat(id === "automatic" ? ungrouped : { ...format, grouping: id === "yes" })}
        />
        <Select
          label={t.decimals}
          choices={[ALL_DIGITS, ...choices.map(String)].map((id) => ({
            id,
            label: id === ALL_DIGITS ? t.allDigits : id,
          }))}
          value={decimals === undefined ? ALL_DIGITS : String(decimals)}
          onChange={(id) => setFormat(id === ALL_DIGITS ? exactly : { ...format, decimals: Number(id) })}
        />
      </div>
      <div className={style.pair}>
        <Select<Sign>
          label={t.sign}
          choices={SIGNS.map((id) => ({ id, label: t.signs[id] }))}
          value={sign}
          onChange={(id) => setFormat({ ...plain, ...begun[id] })}
        />
        {sign === "unit" && (
          <TextField
            label={t.unit}
            placeholder="mm"
            value={format.unit ?? ""}
            onChange={(unit) => setFormat({ ...plain, unit })}
          />
        )}
        {sign === "currency" && (
          <TextField
            label={t.currency}
            placeholder="CHF"
            value={format.currency ?? ""}
            onChange={(currency) => setFormat({ ...plain, currency: currency.toUpperCase() })}
            isCode
          />
        )}
      </div>
    </>
  );
}

function DatePattern({ format, setFormat, placeholder }: PartProps & { placeholder: string }) {
  return (
    <TextField
      label={t.pattern}
      hint={t.patternHint}
      placeholder={placeholder}
      value={format.pattern ?? ""}
      onChange={(pattern) => setFormat(pattern === "" ? {} : { pattern })}
      isCode
    />
  );
}

const KINDS = ["plain", "multiline", "link", "email", "image"] as const;

function TextKind({ format, setFormat }: PartProps) {
  return (
    <Select<(typeof KINDS)[number]>
      label={t.kind}
      choices={KINDS.map((id) => ({ id, label: t.kinds[id], hint: t.kindHints[id] }))}
      value={format.kind ?? "plain"}
      onChange={(kind) => setFormat(kind === "plain" ? {} : { kind })}
    />
  );
}

const PARTS: Partial<Record<AttributeType, (props: PartProps) => React.ReactNode>> = {
  number: NumberFormat,
  metric: NumberFormat,
  date: (props) => <DatePattern {...props} placeholder="dd.MM.yyyy" />,
  datetime: (props) => <DatePattern {...props} placeholder="dd.MM.yyyy HH:mm" />,
  string: TextKind,
};
