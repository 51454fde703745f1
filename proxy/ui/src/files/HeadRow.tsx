import { pageMessages } from "../language/pages";
import style from "./files.module.css";

const t = pageMessages.files;

/** The header of a table of file rows: the line number, then the columns. */
export function HeadRow({ columns }: { columns: readonly string[] }) {
  return (
    <thead>
      <tr>
        <th scope="col" className={style.line}>
          {t.line}
        </th>
        {columns.map((name, at) => (
          <th key={at} scope="col" dir="auto">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
