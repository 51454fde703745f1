import {
  type KeyboardEvent,
  type MouseEvent,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { RecordBody } from "../api/queries";
import { messages } from "../language";
import { MAX_WIDTH, MIN_WIDTH } from "./address";
import { KEY, KEY_WIDTH, type ListColumn } from "./columns";
import style from "./Grid.module.css";
import { GridHead, HEAD } from "./GridHead";
import { cellId, FIRST_CELL, GridRow, KEY_CELL, PendingRow, SELECT_CELL } from "./GridRow";
import { type Cell, gridAction } from "./gridKeys";
import { type Live, markOf } from "./live";
import type { SortBy } from "./sort";
import { isUnloaded } from "./unloadedPages";
import { useRowHeight } from "./useRowHeight";
import { useStablePosition } from "./useStablePosition";
import { useWindow } from "./useWindow";

const t = messages.list;
const HEAD_HEIGHT = 34;
/** The number of placeholder rows while more records load. */
const PENDING = 12;
/** The next page is requested when this many loaded rows are left below the window. */
const PREFETCH_DISTANCE = 120;

/** The functions that the page can call on the grid. */
export type GridHandle = { focus: (id?: string) => void };

type Props = {
  project: string;
  label: string;
  display: string | null;
  columns: readonly ListColumn[];
  records: readonly RecordBody[];
  /** The number of matching records, or -1 while unknown. */
  total: number;
  hasMore: boolean;
  isLoading: boolean;
  /** The rows belong to the previous search. */
  isDimmed: boolean;
  /** The search has not changed for a while. */
  isSettled: boolean;
  /** If this changes, the list scrolls to its top; null while the next rows are unknown. */
  beginning: string | null;
  sort: readonly SortBy[];
  isSortable: boolean;
  isSelected: (id: string) => boolean;
  areAllSelected: boolean | null;
  open: string | null;
  live: Live;
  ref: Ref<GridHandle>;
  onSort: (field: string, isAdded: boolean) => void;
  onResize: (id: string, width: number | null) => void;
  onOpen: (record: RecordBody) => void;
  onSelect: (row: number, isRange: boolean) => void;
  onSelectAll: () => void;
  onClear: () => void;
  onCopy: (record: RecordBody, column: ListColumn | null) => void;
  onNearEnd: () => void;
  onSeen: (first: number, last: number) => void;
};

const tracks = (columns: readonly { id: string; width: number }[], changed?: { id: string; width: number }) =>
  `44px ${KEY_WIDTH}px ${columns
    .map(({ id, width }) => `${id === changed?.id ? changed.width : width}px`)
    .join(" ")} minmax(0, 1fr)`;

/**
 * The virtualized table of records, which renders only the rows near the visible ones.
 *
 * The focus is on the grid, which references its active cell. So the focus stays when rows are added and removed during
 * scrolling.
 */
export function Grid({ columns, records, hasMore, ...props }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight();
  const rows = records.length + (hasMore || props.isLoading ? PENDING : 0);
  const [shown, toTop] = useWindow(root, rows, rowHeight, HEAD_HEIGHT, !props.isSettled);
  const [active, setActive] = useState<Cell>({ row: 0, cell: KEY_CELL });
  const cells = FIRST_CELL + columns.length;

  useLayoutEffect(() => {
    root.current?.style.setProperty("--columns", tracks(columns));
  }, [columns]);

  const moveRow = useCallback((row: number) => setActive(({ cell }) => ({ row, cell })), []);
  useStablePosition(root, records, props.beginning, rowHeight, active.row, moveRow);
  const begun = useRef(props.beginning);
  useLayoutEffect(() => {
    if (props.beginning === null || props.beginning === begun.current) return;
    begun.current = props.beginning;
    toTop();
    setActive((at) => (at.row <= 0 ? at : { row: 0, cell: at.cell }));
  }, [props.beginning, toTop]);

  const { onNearEnd, onSeen } = props;
  const lastSeen = Math.min(shown.lastSeen, records.length);
  const isNearEnd = hasMore && shown.lastSeen > records.length - PREFETCH_DISTANCE;
  // biome-ignore lint/correctness/useExhaustiveDependencies: further pages are loaded until the screen is full.
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, records.length, onNearEnd]);
  useEffect(() => onSeen(shown.firstSeen, lastSeen), [shown.firstSeen, lastSeen, onSeen]);

  const moveTo = (to: Cell) => {
    setActive(to);
    const element = root.current;
    if (!element || to.row === HEAD) return;
    const top = to.row * rowHeight;
    const height = element.clientHeight - HEAD_HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + height) element.scrollTop = top + rowHeight - height;
  };

  // Columns outside the viewport are scrolled into view when the active cell is rendered.
  useEffect(() => {
    const element = root.current;
    const cell = document.getElementById(cellId(active.row, active.cell));
    if (!element || !cell || active.cell < FIRST_CELL) return;
    const fixed = 44 + (matchMedia("(max-width: 720px)").matches ? 0 : KEY_WIDTH);
    const [start, end] = [cell.offsetLeft, cell.offsetLeft + cell.offsetWidth];
    if (start < element.scrollLeft + fixed) element.scrollLeft = start - fixed;
    else if (end > element.scrollLeft + element.clientWidth)
      element.scrollLeft = Math.min(end - element.clientWidth, start - fixed);
  }, [active]);

  useImperativeHandle(props.ref, () => ({
    focus: (id) => {
      const row = id === undefined ? -1 : records.findIndex((record) => record.id === id);
      if (row >= 0) moveTo({ row, cell: active.cell });
      root.current?.focus({ preventScroll: true });
    },
  }));

  const sortField = (cell: number) => (cell === KEY_CELL ? KEY : columns[cell - FIRST_CELL]?.id);
  const sort = (cell: number, isAdded: boolean) => {
    const field = sortField(cell);
    if (field !== undefined && props.isSortable) props.onSort(field, isAdded);
  };
  const select = (row: number, isRange: boolean) =>
    row === HEAD ? props.onSelectAll() : props.onSelect(row, isRange);

  const press = (event: MouseEvent<HTMLDivElement>) => {
    const target = event.target as HTMLElement;
    const cellElement = target.closest<HTMLElement>("[data-cell]");
    const rowElement = target.closest<HTMLElement>("[data-row]");
    if (!cellElement || !rowElement) return;
    const at = { row: Number(rowElement.dataset.row), cell: Number(cellElement.dataset.cell) };
    setActive(at);
    const record = records[at.row];
    const kind = target.closest<HTMLElement>("[data-press]")?.dataset.press;
    if (kind === "none") return;
    if (kind === "sort") return sort(at.cell, event.shiftKey);
    if (kind === "select") return select(at.row, event.shiftKey);
    if (!record) return;
    if (kind === "copy") return props.onCopy(record, null);
    const isReading = window.getSelection()?.isCollapsed === false;
    if (target.closest("a") || isReading) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) return select(at.row, event.shiftKey);
    props.onOpen(record);
  };

  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((event.currentTarget.clientHeight - HEAD_HEIGHT) / rowHeight) - 1);
    const action = gridAction(event, active, { rows: records.length, cells, page });
    if (action === null) return;
    const record = records[active.row];
    const column = columns[active.cell - FIRST_CELL] ?? null;
    if (action.kind === "copy" && window.getSelection()?.isCollapsed === false) return;
    if (action.kind === "clear" && props.areAllSelected === false) return;
    event.preventDefault();
    switch (action.kind) {
      case "move":
        moveTo(action.to);
        if (action.isSelecting) select(action.to.row, true);
        return;
      case "open":
        return record && props.onOpen(record);
      case "copy":
        return record && props.onCopy(record, column);
      case "select":
        return select(active.row, action.isRange);
      case "select-all":
        return props.onSelectAll();
      case "clear":
        return props.onClear();
      case "sort":
        return sort(active.cell, action.isAdded);
      case "resize":
        return column && resize(column.id, column.width + action.by, true);
    }
  };

  const resize = (id: string, width: number | null, isEnd: boolean) => {
    const fit = width === null ? null : Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width));
    if (fit !== null) root.current?.style.setProperty("--columns", tracks(columns, { id, width: fit }));
    if (isEnd) props.onResize(id, fit);
  };

  const visible = Array.from({ length: Math.max(0, shown.to - shown.from) }, (_, at) => shown.from + at);
  const isRendered = active.row === HEAD || (active.row >= shown.from && active.row < shown.to);
  return (
    <div
      ref={root}
      className={style.grid}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-description={t.gridHint}
      aria-rowcount={props.total < 0 ? -1 : props.total + 1}
      aria-colcount={cells}
      aria-multiselectable
      aria-busy={props.isDimmed || props.isLoading}
      aria-activedescendant={isRendered && rows > 0 ? cellId(active.row, active.cell) : undefined}
      onKeyDown={key}
      onClick={press}
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
    >
      <div role="rowgroup" className={style.head}>
        <GridHead
          columns={columns}
          sort={props.sort}
          isSortable={props.isSortable}
          isSelected={props.areAllSelected}
          active={active.row === HEAD ? active.cell : SELECT_CELL - 1}
          onResize={resize}
        />
      </div>
      <div
        role="rowgroup"
        className={`${style.body} ${props.isDimmed ? style.dimmed : ""}`}
        style={{ height: rows * rowHeight, paddingTop: shown.from * rowHeight }}
      >
        {visible.map((index) => {
          const record = records[index];
          if (!record || isUnloaded(record))
            return <PendingRow key={index} index={index} columns={columns} />;
          return (
            <GridRow
              // Keyed by position, so that the next keystroke's results reuse the same elements.
              key={index}
              project={props.project}
              display={props.display}
              record={record}
              index={index}
              columns={columns}
              isSelected={props.isSelected(record.id)}
              isOpen={record.id === props.open}
              mark={markOf(props.live, record.id)}
              active={active.row === index ? active.cell : -1}
            />
          );
        })}
      </div>
    </div>
  );
}
