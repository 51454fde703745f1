import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RecordBody } from "../api/queries";

export type Selection = {
  ids: ReadonlySet<string>;
  /** Everything that matches is selected, also what is not loaded yet. */
  isAll: boolean;
};

const NONE: Selection = { ids: new Set(), isAll: false };

/** The rows between two, both included, in either direction. */
export function range(a: number, b: number): number[] {
  const [from, to] = a < b ? [a, b] : [b, a];
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** The selection after a press on a row. A range has the state of the row that it began at. */
export function pressed(
  { ids, isAll }: Selection,
  records: readonly { id: string }[],
  row: number,
  anchor: number | null,
): Selection {
  // Who takes a row out of everything means the rows that are seen.
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

/** The selected records of a list. Another search clears the selection: users change only records that they see. */
export function useSelection(records: readonly RecordBody[], search: string) {
  const [selection, setSelection] = useState<Selection>(NONE);
  // The row of the last press, by its record: rows come and go above it.
  const anchor = useRef<string | null>(null);

  const clear = useCallback(() => {
    anchor.current = null;
    setSelection(NONE);
  }, []);
  // biome-ignore format: the search is the occasion, not an input
  useEffect(() => { if (search !== null) clear(); }, [search, clear]);

  const press = useCallback(
    (row: number, isRange: boolean) => {
      const place = isRange ? records.findIndex(({ id }) => id === anchor.current) : -1;
      const from = place < 0 ? null : place;
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
