// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell.
import { ArrowDown, ArrowUp } from "lucide-react";
import type { PointerEvent } from "react";
import { messages } from "../language";
import { MAX_WIDTH, MIN_WIDTH } from "./address";
import { KEY, type ListColumn } from "./columns";
import style from "./Grid.module.css";
import { cellId, FIRST_CELL, KEY_CELL, SELECT_CELL } from "./GridRow";
import type { SortBy } from "./sort";

const t = messages.list;
/** The row index of the head, above the first record. */
export const HEAD = -1;

type Props = {
  columns: readonly ListColumn[];
  sort: readonly SortBy[];
  isSortable: boolean;
  /** Whether all, none (false) or some (null) of the loaded records are selected. */
  isSelected: boolean | null;
  active: number;
  /** Shows the width during a drag, and stores it at the end. */
  onResize: (id: string, width: number | null, isEnd: boolean) => void;
};

/** The column headers. A click sorts, a drag at the border resizes. */
export function GridHead({ columns, sort, isSortable, isSelected, active, onResize }: Props) {
  const heads = [{ id: KEY, label: t.key, isNumber: false, width: 0 }, ...columns];
  return (
    <div role="row" className={`${style.row} ${style.headRow}`} aria-rowindex={1} data-row={HEAD}>
      <div
        id={cellId(HEAD, SELECT_CELL)}
        role="columnheader"
        aria-colindex={1}
        data-cell={SELECT_CELL}
        data-press="select"
        className={`${style.cell} ${style.select} ${active === SELECT_CELL ? style.active : ""}`}
      >
        <input
          type="checkbox"
          tabIndex={-1}
          readOnly
          checked={isSelected === true}
          ref={(box) => {
            if (box) box.indeterminate = isSelected === null;
          }}
          aria-label={t.selectAll}
        />
      </div>
      {heads.map((column, index) => {
        const cell = KEY_CELL + index;
        const rank = sort.findIndex(({ field }) => field === column.id);
        const by = sort[rank];
        return (
          <div
            key={column.id}
            id={cellId(HEAD, cell)}
            role="columnheader"
            aria-colindex={cell + 1}
            data-cell={cell}
            data-press="sort"
            aria-sort={by === undefined || rank > 0 ? "none" : by.isDescending ? "descending" : "ascending"}
            title={isSortable ? t.sortTitle(column.label) : t.notSortable}
            className={`${style.cell} ${cell === KEY_CELL ? style.key : ""} ${column.isNumber ? style.number : ""} ${active === cell ? style.active : ""}`}
          >
            <span className={style.headLabel} dir="auto">
              {column.label}
            </span>
            {by && (
              <span className={style.sorted}>
                {by.isDescending ? <ArrowDown size={13} aria-hidden /> : <ArrowUp size={13} aria-hidden />}
                {sort.length > 1 && (
                  <>
                    <span aria-hidden>{rank + 1}</span>
                    <span className="visually-hidden">{t.sortLevel(rank + 1)}</span>
                  </>
                )}
              </span>
            )}
            {cell >= FIRST_CELL && (
              <Border id={column.id} label={column.label} width={column.width} onResize={onResize} />
            )}
          </div>
        );
      })}
    </div>
  );
}

type BorderProps = { id: string; label: string; width: number; onResize: Props["onResize"] };

/** The draggable border at the end of a header. On the keyboard, Alt and an arrow resize. */
function Border({ id, label, width, onResize }: BorderProps) {
  const start = (event: PointerEvent<HTMLSpanElement>) => {
    event.preventDefault();
    const border = event.currentTarget;
    const from = event.clientX;
    const direction = getComputedStyle(border).direction === "rtl" ? -1 : 1;
    const at = (x: number) => Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width + direction * (x - from)));
    border.setPointerCapture(event.pointerId);
    border.onpointermove = (move) => onResize(id, at(move.clientX), false);
    border.onlostpointercapture = () => {
      border.onpointermove = null;
      border.onlostpointercapture = null;
    };
    border.onpointerup = (up) => {
      border.onpointerup = null;
      if (up.clientX !== from) onResize(id, at(up.clientX), true);
    };
  };
  return (
    <span
      className={style.border}
      title={t.resize(label)}
      aria-hidden
      data-press="none"
      onPointerDown={start}
      onDoubleClick={() => onResize(id, null, true)}
    />
  );
}
