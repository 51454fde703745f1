import { useEffect, useState } from "react";
import { Button } from "../components/Button";
import { Notice } from "../components/Notice";
import { Section } from "../components/Page";
import { Select } from "../components/Select";
import { pageMessages } from "../language/pages";
import { number } from "../language/plural";
import { countRows } from "./count";
import { ChooseFile } from "./DropArea";
import { DELIMITERS, type Delimiter, ENCODINGS, type Encoding } from "./encoding";
import style from "./files.module.css";
import { HeadRow } from "./HeadRow";
import type { Choices, Reading } from "./reading";

const t = pageMessages.files;
const SHOWN = 20;

type Props = {
  file: File;
  reading: Reading;
  choose: (choices: Choices) => void;
  onFile: (file: File) => void;
  next: () => void;
};

/** The detected properties of the file, to review and correct. */
export function FileStep({ file, reading, choose, onFile, next }: Props) {
  const { rows, header, format } = reading;
  return (
    <>
      <Section
        title={t.understood}
        lead={`${file.name}, ${t.size(file.size)}`}
        actions={<ChooseFile onFile={onFile}>{t.chooseOther}</ChooseFile>}
      >
        <div className={style.facts}>
          <Fact name={t.format}>{t.formats[format]}</Fact>
          {format === "csv" && (
            <>
              <Select<Encoding>
                label={t.encoding}
                choices={ENCODINGS.map((id) => ({ id, label: t.encodings[id] }))}
                value={reading.encoding}
                onChange={(encoding) => choose({ encoding, delimiter: reading.delimiter })}
              />
              <Select<Delimiter>
                label={t.delimiter}
                choices={DELIMITERS.map((id) => ({ id, label: t.delimiters[id] }))}
                value={reading.delimiter}
                onChange={(delimiter) => choose({ encoding: reading.encoding, delimiter })}
              />
            </>
          )}
          <Fact name={t.header}>{number(header.length)}</Fact>
          <Fact name={t.rowsFound}>
            <RowCount file={file} reading={reading} />
          </Fact>
        </div>
        {format === "csv" && header.length === 1 && rows.length > 0 && (
          <Notice kind="attention">{t.oneColumn}</Notice>
        )}
        {headerProblems(reading).map((error) => (
          <Notice key={error} kind="attention">
            {error}
          </Notice>
        ))}
      </Section>
      {rows.length === 0 ? (
        <Notice kind="attention">{t.emptyFile}</Notice>
      ) : (
        <>
          <Section title={t.preview(Math.min(rows.length, SHOWN))}>
            <Preview reading={reading} />
          </Section>
          <div className={style.foot}>
            <Button kind="main" onPress={next}>
              {t.next}
            </Button>
          </div>
        </>
      )}
    </>
  );
}

/** The errors of the first line. */
function headerProblems({ format, header, rows }: Reading): string[] {
  if (format === "ndjson") return [];
  const twice = new Set(header.filter((name, at) => name !== "" && header.indexOf(name) !== at));
  const isFilled = (at: number) => rows.some(({ cells }) => (cells[at] ?? "") !== "");
  const nameless = header.flatMap((name, at) =>
    name.trim() === "" && isFilled(at) ? [t.namelessColumn(at + 1)] : [],
  );
  return [...nameless.slice(0, 3), ...[...twice].map(t.columnTwice)];
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <dl className={style.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </dl>
  );
}

/** The number of rows: estimated at first, exact after the file has been read to its end. */
function RowCount({ file, reading }: { file: File; reading: Reading }) {
  const [exact, setExact] = useState<number | null>(null);
  const isCountable = reading.isEstimate && !reading.encoding.startsWith("utf-16");
  useEffect(() => {
    setExact(null);
    if (!isCountable) return;
    const controller = new AbortController();
    countRows(file, reading.format === "csv" ? reading.delimiter : null, controller.signal)
      .then((rows) => controller.signal.aborted || setExact(rows))
      .catch(() => {});
    return () => controller.abort();
  }, [file, reading.format, reading.delimiter, isCountable]);
  if (!reading.isEstimate) return number(reading.rowCount);
  if (exact !== null) return number(exact);
  return isCountable ? t.counting(reading.rowCount) : t.about(reading.rowCount);
}

/** The first rows, unparsed. */
function Preview({ reading }: { reading: Reading }) {
  const { header, rows } = reading;
  return (
    <div
      role="group"
      className={style.table}
      aria-label={t.preview(Math.min(rows.length, SHOWN))}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
      tabIndex={0}
    >
      <table>
        <HeadRow columns={header} />
        <tbody>
          {rows.slice(0, SHOWN).map(({ line, cells }) => (
            <tr key={line}>
              <td className={style.line}>{number(line)}</td>
              {header.map((_, at) => (
                <td key={at} className={style.cell} dir="auto" title={cells[at]}>
                  {cells[at]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
