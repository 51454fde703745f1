import type { ReactNode } from "react";
import style from "./DataTable.module.css";

export type Column<Row> = {
  id: string;
  title: string;
  isNumber?: boolean;
  cell: (row: Row) => ReactNode;
};

type Props<Row> = {
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
};

/** A short table that is read, such as that of API keys. The table of records is in `list/`. */
export function DataTable<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  return (
    <section className={style.frame} aria-label={label} tabIndex={0}>
      <table className={style.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={column.isNumber ? style.number : ""}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.id} className={column.isNumber ? style.number : ""}>
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
