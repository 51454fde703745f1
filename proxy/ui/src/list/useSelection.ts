import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RecordBody } from "../api/queries";

export type Selection = {
  ids: ReadonlySet<string>;
  /** All matching records are selected, including those that are not loaded. */
  isAll: boolean;
};

const NONE: Selection = { ids: new Set(), isAll: false };

/** The rows between two rows, both included, in either direction. */
export function range(a: number, b: number): number[] {
  const [from, to] = a < b ? [a, b] : [b, a];
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** The selection after a click on a row. A range takes the state of the row at which it starts. */
export function pressed(
  { ids, isAll }: Selection,
  records: readonly { id: string }[],
  row: number,
  anchor: number | null,
): Selection {
  // Deselecting a row when all match keeps only the loaded rows selected.
  const next = new Set(isAll ? records.map(({ id }) => id) : ids);
  const record = records[row];
  if (!record) return { ids, isAll };
  const isOn = anchor === null ? !next.has(record.id) : next.has(records[anchor]?.id ?? "");
  for (const at of anchor === null ? [row] : range(anchor, row)) {
    const id = records[at]?.id;
    if (id === undefined) continue;
    if (isOn) next.add(id);
    else next.delete(id);
  }
  return { ids: next, isAll: false };
}

/** The selected records of a list. Another search clears the selection, so users change only records that they see. */
export function useSelection(records: readonly RecordBody[], search: string) {
  const [selection, setSelection] = useState<Selection>(NONE);
  // The record of the last clicked row, because row indexes change.
  const anchor = useRef<string | null>(null);

  const clear = useCallback(() => {
    anchor.current = null;
    setSelection(NONE);
  }, []);
  // biome-ignore format: the search only triggers the effect
  useEffect(() => { if (search !== null) clear(); }, [search, clear]);

  const press = useCallback(
    (row: number, isRange: boolean) => {
      const index = isRange ? records.findIndex(({ id }) => id === anchor.current) : -1;
      const from = index < 0 ? null : index;
      if (from === null) anchor.current = records[row]?.id ?? null;
      setSelection((current) => pressed(current, records, row, from));
    },
    [records],
  );
  const areAll = useMemo((): boolean | null => {
    if (selection.isAll) return true;
    if (selection.ids.size === 0) return false;
    return records.every(({ id }) => selection.ids.has(id)) ? true : null;
  }, [selection, records]);
  const pressAll = useCallback(
    () => setSelection(areAll === true ? NONE : { ids: new Set(records.map(({ id }) => id)), isAll: false }),
    [areAll, records],
  );
  const selectMatching = useCallback(() => setSelection((current) => ({ ...current, isAll: true })), []);
  const has = useCallback((id: string) => selection.isAll || selection.ids.has(id), [selection]);
  const set = useCallback((ids: ReadonlySet<string>) => setSelection({ ids, isAll: false }), []);
  return { selection, ids: selection.ids, areAll, has, set, press, pressAll, selectMatching, clear };
}
