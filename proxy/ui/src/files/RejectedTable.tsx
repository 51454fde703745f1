import { useEffect, useMemo, useState } from "react";
import { asSentence } from "../api/problem";
import { Button } from "../components/Button";
import { Notice } from "../components/Notice";
import { Section } from "../components/Page";
import { Tag } from "../components/Tag";
import { showErrorToast } from "../components/toast";
import { pageMessages } from "../language/pages";
import { number } from "../language/plural";
import style from "./files.module.css";
import { HeadRow } from "./HeadRow";
import type { Row } from "./reading";
import { byColumn, byLine } from "./rejected";
import type { Plan } from "./request";
import { rowsAt } from "./rowsAt";
import { saveRejected } from "./saveRejected";
import type { Rejection, Report } from "./transfer";

const t = pageMessages.files;
const MAX_SHOWN = 50;
const MAX_ERRORS = 1000;

/** The rejected rows as in the file, with each error in its cell. */
export function RejectedTable({ file, plan, report }: { file: File; plan: Plan; report: Report }) {
  const [rows, setRows] = useState<Map<number, Row> | null>(null);
  const { reading } = plan;
  const shown = useMemo(() => [...byLine(report.errors)].slice(0, MAX_SHOWN), [report]);
  useEffect(() => {
    let isHere = true;
    rowsAt(file, reading, new Map(shown)).then(
      (found) => isHere && setRows(found),
      () => isHere && setRows(new Map()),
    );
    return () => {
      isHere = false;
    };
  }, [file, reading, shown]);
  const isCsv = reading.format === "csv";
  const columns = isCsv ? reading.header : [t.wholeRow];
  return (
    <Section
      title={t.rejectedTitle}
      lead={t.rejectedLead(shown.length, report.failed)}
      actions={
        <Button
          onPress={() =>
            saveRejected(file, reading, report.errors, []).catch(() => showErrorToast(t.unreadable))
          }
        >
          {t.saveRejected}
        </Button>
      }
    >
      <ul className={style.buttons}>
        {byColumn(report.errors).map(([column, n]) => (
          <li key={column ?? ""}>
            <Tag kind="bad">{t.errorsIn(column, n)}</Tag>
          </li>
        ))}
      </ul>
      {report.errors.length >= MAX_ERRORS && <Notice kind="attention">{t.rejectedMany}</Notice>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <div role="group" className={style.table} aria-label={t.rejectedTitle} tabIndex={0}>
        <table>
          <HeadRow columns={columns} />
          <tbody>
            {shown.map(([line, errors]) => (
              <RejectedRow
                key={line}
                line={line}
                errors={errors}
                columns={columns}
                isCsv={isCsv}
                cells={rows === null ? null : (rows.get(line)?.cells ?? [])}
              />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

type RowProps = {
  line: number;
  errors: Rejection[];
  columns: string[];
  isCsv: boolean;
  /** Null while the cells are read from the file. */
  cells: string[] | null;
};

function RejectedRow({ line, errors, columns, isCsv, cells }: RowProps) {
  // An error of the whole row is shown in its first cell.
  const located = errors.map((error) => ({ error, at: isCsv ? columns.indexOf(error.column ?? "") : 0 }));
  return (
    <tr>
      <td className={style.line}>{number(line)}</td>
      {columns.map((name, at) => {
        const here = located.filter((it) => Math.max(0, it.at) === at);
        return (
          <td key={at} className={here.length > 0 ? style.bad : ""} title={cells?.[at]}>
            <div className={style.cell} dir="auto">
              {cells?.[at] ?? (at === 0 && cells !== null && cells.length === 0 ? t.rowTooFar : "")}
            </div>
            {here.map(({ error }) => (
              <p key={error.message} dir="auto">
                {error.column !== null && error.column !== name
                  ? `${error.column}: ${error.message}`
                  : asSentence(error.message)}
              </p>
            ))}
          </td>
        );
      })}
    </tr>
  );
}
