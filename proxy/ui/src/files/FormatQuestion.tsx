import { Label, Radio, RadioGroup } from "react-aria-components";
import { type ExactNumber, parseJson } from "../api/json";
import { numberText } from "../format/number";
import { pageMessages } from "../language/pages";
import { type CellFormat, type FormatChoice, has } from "./cellFormat";
import style from "./files.module.css";

const t = pageMessages.files;

type Props = { choice: FormatChoice; format: CellFormat; choose: (members: CellFormat) => void };

/** Cells that match several formats. Each format shows how it reads them. */
export function FormatQuestion({ choice, format, choose }: Props) {
  const { columns, formats: all } = choice;
  // Cells that all formats read alike do not help to choose. Each format shows the same cells.
  const distinguishes = (index: number) => new Set(all.map(({ cells }) => cells[index]?.value)).size > 1;
  const formats = all.map((it) => ({ ...it, cells: it.cells.filter((_, index) => distinguishes(index)) }));
  const chosen = formats.findIndex((it) => has(format, it.format));
  const members = new Set(formats.flatMap((it) => Object.keys(it.format)));
  const select = (index: string) => {
    const chosen = formats[Number(index)]?.format;
    // Members that only another format sets are removed.
    const others = Object.fromEntries([...members].map((name) => [name, undefined]));
    if (chosen) choose({ ...others, ...chosen } as CellFormat);
  };
  return (
    <RadioGroup
      className={style.question ?? ""}
      value={chosen === -1 ? null : String(chosen)}
      onChange={select}
      isRequired
    >
      <Label>{t.question(columns)}</Label>
      <div className={style.answers}>
        {formats.map((it, index) => (
          <Radio key={index} value={String(index)} className={style.answer ?? ""}>
            <span className={style.answerName}>{t.formatName(it.format)}</span>
            <span className={style.readings}>
              <Cells reading={it} />
            </span>
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}

/** How the proposed format reads sample cells, until the user changes it. */
export function FormatReading({ reading, format }: { reading: FormatChoice; format: CellFormat }) {
  const [only] = reading.formats;
  if (!only || !has(format, only.format) || only.cells.length === 0) return null;
  return (
    <div className={style.proposed}>
      <span>{t.proposedFor(reading.columns, t.formatName(only.format))}</span>
      <span className={style.readings}>
        <Cells reading={only} />
      </span>
    </div>
  );
}

/** Cells of the file, each with the value that it becomes. */
export function Cells({ reading }: { reading: FormatChoice["formats"][number] }) {
  return reading.cells.map(({ column, text, value }) => (
    <span key={`${column} ${text}`} dir="auto">
      {text} → {valueText(value, reading.format)}
    </span>
  ));
}

/** A value in the user's locale, with month names, because 02 and 01 look alike. */
function valueText(value: string, format: CellFormat): string {
  if (format.date !== undefined || format.datetime !== undefined) {
    const date = new Date(value);
    if (Number.isNaN(date.getTime())) return value;
    // The service sends the local time as if it were UTC.
    const shown = new Intl.DateTimeFormat(undefined, {
      dateStyle: "long",
      ...(format.datetime === undefined ? {} : { timeStyle: "short" as const }),
      timeZone: "UTC",
    });
    return shown.format(date);
  }
  if (format.decimal !== undefined || format.thousands !== undefined)
    return numberText(parseJson(value) as ExactNumber);
  return value.startsWith("[") ? (JSON.parse(value) as string[]).join(" · ") : value;
}
