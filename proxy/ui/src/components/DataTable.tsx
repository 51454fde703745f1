// biome-ignore-all lint/a11y/noRedundantRoles: a row that is laid out as a card would lose its role.
import type { ReactNode } from "react";
import style from "./DataTable.module.css";

export type Column<Row> = {
  id: string;
  title: string;
  /** The title of a column of buttons is for screen readers only. */
  isTitleHidden?: boolean;
  isNumber?: boolean;
  /** A width such as "20%", to align several tables of a page. */
  width?: string;
  cell: (row: Row) => ReactNode;
};

type Props<Row> = {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  /** Whether a row is inactive and dimmed. */
  isQuiet?: (row: Row) => boolean;
};

/**
 * A short read-only table, such as that of API keys. On narrow screens each row is a card. The table of records is in
 * `list/`.
 */
export function DataTable<Row>({ label, columns, rows, rowKey, isQuiet }: Props<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <section className={style.frame} aria-label={label} tabIndex={0}>
      <table className={style.table} role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                role="columnheader"
                className={column.isNumber ? style.number : ""}
                style={{ width: column.width }}
              >
                <span className={column.isTitleHidden ? "visually-hidden" : ""}>{column.title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row" className={isQuiet?.(row) ? style.quiet : ""}>
              {columns.map((column) => (
                <td
                  key={column.id}
                  role="cell"
                  className={column.isNumber ? style.number : column.isTitleHidden ? style.actions : ""}
                  data-title={column.isTitleHidden ? undefined : column.title}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
