// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell.
import { Copy } from "lucide-react";
import { memo } from "react";
import type { RecordBody } from "../api/queries";
import { messages } from "../language";
import { Sparkline } from "../value/Sparkline";
import { EmptyValue, Value } from "../value/Value";
import { columnValue, KEY, type ListColumn } from "./columns";
import style from "./Grid.module.css";
import type { Mark } from "./live";
import { MarkText, markSentence } from "./MarkText";
import { recordName } from "./names";

const t = messages.list;

/** The index of the cells before the columns. */
export const SELECT_CELL = 0;
export const KEY_CELL = 1;
export const FIRST_CELL = 2;

export const cellId = (row: number, cell: number) => `cell-${row}-${cell}`;

type Props = {
  project: string;
  display: string | null;
  record: RecordBody;
  index: number;
  columns: readonly ListColumn[];
  isSelected: boolean;
  isOpen: boolean;
  /** The change by another user. */
  mark: Mark | undefined;
  /** The active cell of the keyboard, or -1. */
  active: number;
};

/** A record as a row. The grid handles clicks by the `data-` attributes. */
export const GridRow = memo(function GridRow({ record, index, columns, active, mark, ...props }: Props) {
  const at = (cell: number) => ({
    id: cellId(index, cell),
    role: "gridcell",
    "aria-colindex": cell + 1,
    "data-cell": cell,
  });
  const shape = (cell: number, more = "") => `${style.cell} ${more} ${cell === active ? style.active : ""}`;
  return (
    <div
      role="row"
      className={`${style.row} ${props.isSelected ? style.selected : ""} ${props.isOpen ? style.open : ""} ${
        mark ? style[mark.kind] : ""
      }`}
      title={mark && markSentence(mark)}
      aria-rowindex={index + 2}
      aria-selected={props.isSelected}
      data-row={index}
      data-record={record.id}
    >
      <div {...at(SELECT_CELL)} className={shape(SELECT_CELL, style.select)} data-press="select">
        <input
          type="checkbox"
          tabIndex={-1}
          readOnly
          checked={props.isSelected}
          aria-label={t.selectRow(recordName(record, props.display))}
        />
      </div>
      <div
        {...at(KEY_CELL)}
        className={shape(KEY_CELL, `${style.key} ${mark?.fields.has(KEY) ? style.fresh : ""}`)}
      >
        <MarkText mark={mark} />
        {record.external_key === null ? (
          <EmptyValue />
        ) : (
          <>
            <code dir="auto" title={record.external_key}>
              {record.external_key}
            </code>
            <button
              type="button"
              tabIndex={-1}
              className={style.copy}
              data-press="copy"
              aria-label={t.copyKey}
              title={t.copyKey}
            >
              <Copy size={13} aria-hidden />
            </button>
          </>
        )}
      </div>
      {columns.map((column, index) => {
        const cell = FIRST_CELL + index;
        return (
          <div
            key={column.id}
            {...at(cell)}
            className={shape(
              cell,
              `${style.value} ${column.isNumber ? style.number : column.attribute.type === "string" ? style.text : ""} ${
                mark?.fields.has(column.id) ? style.fresh : ""
              }`,
            )}
          >
            {measured(record, column) && (
              <Sparkline
                key={record.id}
                id={record.id}
                slug={column.id}
                until={measured(record, column) ?? ""}
              />
            )}
            <Value
              project={props.project}
              attribute={column.attribute}
              value={columnValue(record, column)}
              verbose={record.attribute_values?.[column.id]}
            />
          </div>
        );
      })}
    </div>
  );
});

/** The time of the last measurement of a metric. */
const measured = (record: RecordBody, { id, attribute }: ListColumn): string | null =>
  attribute.type === "metric" ? (record.attribute_values?.[id]?.at ?? null) : null;

/** A row that is still loading. */
export function PendingRow({ index, columns }: { index: number; columns: readonly ListColumn[] }) {
  return (
    <div className={style.row} aria-hidden data-pending={index}>
      <div className={`${style.cell} ${style.select}`} />
      <div className={`${style.cell} ${style.key}`}>
        <span className={style.pending} />
      </div>
      {columns.map(({ id }) => (
        <div key={id} className={style.cell}>
          <span className={style.pending} />
        </div>
      ))}
    </div>
  );
}
