import { GripVertical } from "lucide-react";
import { useState } from "react";
import {
  Button as AriaButton,
  GridList,
  GridListItem,
  Input,
  SearchField,
  useDragAndDrop,
} from "react-aria-components";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { messages } from "../language";
import style from "./ColumnChooser.module.css";
import { allColumns, type ListColumn } from "./columns";

const t = messages.list;

export type ChooserProps = {
  template: Template;
  columns: readonly ListColumn[];
  /** Null for the initial columns. */
  onChange: (columns: ListColumn[] | null) => void;
};

/** The columns with checkboxes, to show, hide and reorder. */
export default function Chooser({ template, columns, onChange }: ChooserProps) {
  const [filter, setFilter] = useState("");
  const shownIds = new Set(columns.map(({ id }) => id));
  const all = [...columns, ...allColumns(template).filter(({ id }) => !shownIds.has(id))];
  const found = all.filter(({ label, id }) => `${label} ${id}`.toLowerCase().includes(filter.toLowerCase()));

  const show = (column: ListColumn, isShown: boolean) =>
    onChange(isShown ? [...columns, column] : columns.filter(({ id }) => id !== column.id));

  const { dragAndDropHooks } = useDragAndDrop({
    isDisabled: filter !== "",
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onReorder: ({ keys, target }) => {
      const moved = all.filter(({ id }) => keys.has(id));
      const rest = all.filter(({ id }) => !keys.has(id));
      const at = rest.findIndex(({ id }) => id === target.key) + (target.dropPosition === "after" ? 1 : 0);
      const next = [...rest.slice(0, at), ...moved, ...rest.slice(at)];
      // A column that is dropped between shown ones becomes visible. Hidden ones stay hidden.
      const last = next.findLastIndex(({ id }) => shownIds.has(id) && !keys.has(id));
      onChange(next.filter(({ id }, index) => shownIds.has(id) || (keys.has(id) && index <= last)));
    },
  });

  return (
    <>
      <div className={style.head}>
        <SearchField aria-label={t.findColumn} value={filter} onChange={setFilter}>
          <Input className={style.find ?? ""} placeholder={t.findColumn} />
        </SearchField>
        <span className={style.lead}>{t.columnsLead(columns.length, all.length)}</span>
      </div>
      <GridList
        aria-label={t.columns}
        aria-description={t.columnsHint}
        items={found}
        dependencies={[columns]}
        dragAndDropHooks={dragAndDropHooks}
        className={style.list ?? ""}
      >
        {(column) => (
          <GridListItem id={column.id} textValue={column.label} className={style.item ?? ""}>
            <AriaButton slot="drag" className={style.handle ?? ""} aria-label={t.moveColumn(column.label)}>
              <GripVertical size={14} aria-hidden />
            </AriaButton>
            <Checkbox
              slot={null}
              aria-label={t.showColumn(column.label)}
              isSelected={shownIds.has(column.id)}
              onChange={(isShown) => show(column, isShown)}
            >
              <span className={style.label} dir="auto">
                {column.label}
              </span>
            </Checkbox>
          </GridListItem>
        )}
      </GridList>
      <div className={style.foot}>
        <Button kind="quiet" onPress={() => onChange(null)}>
          {t.resetColumns}
        </Button>
      </div>
    </>
  );
}
