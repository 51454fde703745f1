import type { Template } from "../api/queries";
import { TextField } from "../components/Field";
import { Section } from "../components/Page";
import { Progress } from "../components/Progress";
import { Select } from "../components/Select";
import { readerZone } from "../format/zone";
import { pageMessages } from "../language/pages";
import {
  type CellFormat,
  changed,
  DATES,
  DECIMALS,
  dateExample,
  listOf,
  type Proposal,
  SEPARATORS,
  THOUSANDS,
  withMarks,
  withZone,
  wordsOf,
} from "./cellFormat";
import type { Target } from "./columns";
import { FormatQuestion, FormatReading } from "./FormatQuestion";
import style from "./files.module.css";
import { WordsField } from "./WordsField";

const t = pageMessages.files;

type Props = {
  template: Template;
  targets: Target[];
  /** Null while the format is detected. */
  proposal: Proposal | null;
  format: CellFormat;
  setFormat: (format: CellFormat) => void;
};

/** The cell format of a file: the service's proposal, to accept or change. */
export function FormatSection({ template, targets, proposal, format, setFormat }: Props) {
  const types = new Set(
    template.attributes.filter(({ slug }) => targets.includes(slug)).map(({ type }) => type),
  );
  const hasAny = (...some: string[]) => some.some((type) => types.has(type as never));
  const change = (members: Parameters<typeof changed>[1]) => setFormat(changed(format, members));
  const changeTimes = (members: Parameters<typeof changed>[1]) =>
    setFormat(withZone(changed(format, members), readerZone()));
  if (!hasAny("number", "metric", "date", "datetime", "boolean", "list")) return null;
  if (proposal === null)
    return (
      <Section title={t.cellsTitle}>
        <Progress label={t.cellsReading} value={null} text={t.cellsReading} />
      </Section>
    );
  const isProposed = Object.keys(proposal.format).length > 0;
  const lead = proposal.choices.length > 0 ? t.cellsSeveral : isProposed ? t.cellsProposed : t.cellsPlain;
  return (
    <Section title={t.cellsTitle} lead={lead}>
      {proposal.choices.map((choice) => (
        <FormatQuestion
          key={JSON.stringify(choice.formats.map(({ format }) => format))}
          choice={choice}
          format={format}
          choose={changeTimes}
        />
      ))}
      {proposal.readings.map((reading) => (
        <FormatReading key={reading.columns.join()} reading={reading} format={format} />
      ))}
      <div className={`${style.form} ${style.fields}`}>
        {hasAny("number", "metric") && <Marks format={format} setFormat={setFormat} />}
        {hasAny("date") && (
          <Select
            label={t.dateOrder}
            choices={[...new Set([...DATES, format.date ?? ""])].map((pattern) => ({
              id: pattern,
              label: pattern === "" ? "YYYY-MM-DD" : pattern,
              hint: pattern === "" ? "2024-02-29" : dateExample(pattern),
            }))}
            value={format.date ?? ""}
            onChange={(date) => change({ date: date === "" ? undefined : date })}
          />
        )}
        {hasAny("datetime") && (
          <>
            <TextField
              label={t.timePattern}
              hint={t.timePatternHint}
              value={format.datetime ?? ""}
              onChange={(datetime) => changeTimes({ datetime: datetime === "" ? undefined : datetime })}
              isCode
            />
            {format.datetime !== undefined && (
              <TextField
                label={t.timeZone}
                hint={t.timeZoneHint}
                value={format.time_zone ?? ""}
                onChange={(zone) => change({ time_zone: zone === "" ? undefined : zone })}
                isCode
              />
            )}
          </>
        )}
        {hasAny("boolean") && (
          <>
            <WordsField
              label={t.wordsTrue}
              words={listOf(format.true)}
              placeholder="true"
              onChange={(text) => change({ true: wordsOf(text) })}
            />
            <WordsField
              label={t.wordsFalse}
              words={listOf(format.false)}
              placeholder="false"
              onChange={(text) => change({ false: wordsOf(text) })}
            />
          </>
        )}
        {hasAny("list") && (
          <Select
            label={t.listSeparator}
            choices={[...new Set([...SEPARATORS, format.list ?? ";"])].map((id) => ({
              id,
              label: t.separators[id] ?? id,
            }))}
            value={format.list ?? ";"}
            onChange={(list) => change({ list: list === ";" ? undefined : list })}
          />
        )}
        <WordsField
          label={t.wordsNull}
          hint={t.wordsNullHint}
          words={listOf(format.null).filter((word) => word !== "")}
          onChange={(text) => {
            const words = wordsOf(text);
            change({ null: words && ["", ...words] });
          }}
        />
      </div>
    </Section>
  );
}

type MarksProps = Pick<Props, "format" | "setFormat">;

function Marks({ format, setFormat }: MarksProps) {
  const decimal = format.decimal ?? ".";
  const thousands = format.thousands ?? "";
  const named = (marks: readonly string[]) => marks.map((id) => ({ id, label: t.marks[id] ?? id }));
  return (
    <>
      <Select
        label={t.decimal}
        choices={named([...new Set([...DECIMALS, decimal])])}
        value={decimal}
        onChange={(mark) => setFormat(withMarks(format, mark, thousands))}
      />
      <Select
        label={t.thousands}
        choices={named([...new Set([...THOUSANDS, thousands])].filter((mark) => mark !== decimal))}
        value={thousands}
        onChange={(mark) => setFormat(withMarks(format, decimal, mark))}
      />
    </>
  );
}
