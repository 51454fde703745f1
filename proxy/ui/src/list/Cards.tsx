import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import { GridLayout, GridList, GridListItem, Size, Virtualizer } from "react-aria-components";
import type { RecordBody } from "../api/queries";
import { Checkbox } from "../components/Checkbox";
import { messages } from "../language";
import { isEmptyValue } from "../value/text";
import { EmptyValue, Value } from "../value/Value";
import style from "./Cards.module.css";
import { columnValue, type ListColumn } from "./columns";
import type { GridHandle } from "./Grid";
import { type Live, type Mark, markOf } from "./live";
import { MarkText } from "./MarkText";
import { recordName } from "./names";

const t = messages.list;
/** The number of values on a card below its name. */
const MAX_VALUES = 5;
const HEIGHT = 208;
const LAYOUT = {
  minItemSize: new Size(260, HEIGHT),
  maxItemSize: new Size(420, HEIGHT),
  minSpace: new Size(12, 12),
};
/** The next page is requested this many pixels before the end. */
const PREFETCH_DISTANCE = 2400;

type Props = {
  project: string;
  label: string;
  display: string | null;
  columns: readonly ListColumn[];
  records: readonly RecordBody[];
  isDimmed: boolean;
  ids: ReadonlySet<string>;
  live: Live;
  onSelect: (ids: ReadonlySet<string>) => void;
  onOpen: (record: RecordBody) => void;
  onNearEnd: () => void;
  handle: Ref<GridHandle>;
};

/** The records as cards, each with its key. */
export default function Cards({ records, columns, display, onNearEnd, handle, ...props }: Props) {
  const root = useRef<HTMLDivElement>(null);
  // The list has the focus and passes it to a card.
  useImperativeHandle(handle, () => ({
    focus: (id) => {
      const card = id === undefined ? null : `[role=row][data-key="${CSS.escape(id)}"]`;
      const found = card === null ? null : root.current?.querySelector<HTMLElement>(card);
      (found ?? root.current?.querySelector<HTMLElement>("[role=grid]"))?.focus();
    },
  }));
  const others = columns.filter(({ id }) => id !== display);

  useEffect(() => {
    const element = root.current?.querySelector("[role=grid]");
    if (!element) return;
    const look = () => {
      if (element.scrollTop + element.clientHeight > element.scrollHeight - PREFETCH_DISTANCE) onNearEnd();
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, [onNearEnd]);

  return (
    <div ref={root} className={`${style.frame} ${props.isDimmed ? style.dimmed : ""}`}>
      <Virtualizer layout={GridLayout} layoutOptions={LAYOUT}>
        <GridList
          aria-label={props.label}
          layout="grid"
          items={records}
          dependencies={[columns, props.live.marks]}
          selectionMode="multiple"
          selectionBehavior="toggle"
          selectedKeys={props.ids}
          onSelectionChange={(keys) =>
            props.onSelect(new Set(keys === "all" ? records.map(({ id }) => id) : [...keys].map(String)))
          }
          onAction={(id) => {
            const record = records.find((it) => it.id === id);
            if (record) props.onOpen(record);
          }}
          className={style.cards ?? ""}
        >
          {(record) => (
            <GridListItem
              id={record.id}
              textValue={recordName(record, display)}
              className={`${style.card} ${shapeOf(markOf(props.live, record.id))}`}
            >
              <div className={style.head}>
                <MarkText mark={markOf(props.live, record.id)} />
                <span className={style.name}>
                  <bdi>{recordName(record, display)}</bdi>
                </span>
                <Checkbox slot="selection" />
              </div>
              <span className={style.key} title={t.key}>
                {record.external_key === null ? (
                  <EmptyValue />
                ) : (
                  <code dir="auto">{record.external_key}</code>
                )}
              </span>
              <dl className={style.values}>
                {filled(record, others).map((column) => (
                  <div key={column.id}>
                    <dt dir="auto">{column.label}</dt>
                    <dd>
                      <Value
                        project={props.project}
                        attribute={column.attribute}
                        value={columnValue(record, column)}
                        verbose={record.attribute_values?.[column.id]}
                      />
                    </dd>
                  </div>
                ))}
              </dl>
            </GridListItem>
          )}
        </GridList>
      </Virtualizer>
    </div>
  );
}

const shapeOf = (mark: Mark | undefined) => (mark ? style[mark.kind] : "");

/** The first columns in which the record has a value. */
const filled = (record: RecordBody, columns: readonly ListColumn[]) =>
  columns.filter((column) => !isEmptyValue(columnValue(record, column))).slice(0, MAX_VALUES);
