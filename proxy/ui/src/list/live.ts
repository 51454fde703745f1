/** The effects of record changes on a list that shows some of the records. */
import type { Change } from "../api/changes";
import type { RecordBody } from "../api/queries";
import { changedFields } from "../record/merge";

/** A change of a listed record by another user. */
export type Mark = {
  /** `left`: it no longer matches. `gone`: it is no longer visible to the user. */
  kind: "changed" | "new" | "deleted" | "gone" | "left";
  fields: ReadonlySet<string>;
  /** The author as in the history; null if it is unknown or the current user. */
  actor: string | null;
};

export type Live = {
  marks: ReadonlyMap<string, Mark>;
  /** Matching records that are not loaded. */
  fresh: ReadonlySet<string>;
};

export const NOTHING: Live = { marks: new Map(), fresh: new Set() };

/** All changes of a record that the list has not processed. */
export type Pending = {
  id: string;
  operation: Change["operation"];
  fields: ReadonlySet<string>;
  /** Whether one of them may have added it to this kind of list, such as its creation. */
  hasJoined: boolean;
  actor: string | null;
};

/** Adds changes to the pending ones. `isOwn`: made by this tab. */
export function addPending(
  pending: Map<string, Pending>,
  changes: readonly Change[],
  areDeleted: boolean,
  isOwn: (change: Change) => boolean,
) {
  for (const change of changes) {
    const before = pending.get(change.id);
    const joins = areDeleted ? ["delete"] : ["create", "restore"];
    pending.set(change.id, {
      id: change.id,
      operation: change.operation,
      fields: new Set([...(before?.fields ?? []), ...change.changed]),
      hasJoined: before?.hasJoined === true || joins.includes(change.operation),
      actor: isOwn(change) ? (before?.actor ?? null) : change.actor,
    });
  }
}

/** Whether the change removes a record from every list of this kind, so no request is needed. */
const isLoss = ({ operation }: Pending, areDeleted: boolean): boolean =>
  operation === "gone" || operation === (areDeleted ? "restore" : "delete");

const lossOf = ({ operation }: Pending): Mark["kind"] =>
  operation === "gone" ? "gone" : operation === "delete" ? "deleted" : "left";

type Seen = {
  /** The records of the list. */
  loaded: ReadonlyMap<string, RecordBody>;
  /** Whether all matching records are loaded. */
  isWhole: boolean;
  areDeleted: boolean;
  isRendered: (id: string) => boolean;
};

/** Splits pending changes into those to request now, those to request later, and lost records. Others are irrelevant. */
export function classifyPending(
  pending: Iterable<Pending>,
  { loaded, isWhole, areDeleted, isRendered }: Seen,
) {
  const [due, later, lost]: [Pending[], Pending[], Pending[]] = [[], [], []];
  for (const it of pending) {
    const isLoaded = loaded.has(it.id);
    if (isLoss(it, areDeleted)) lost.push(it);
    else if (isLoaded) (isRendered(it.id) ? due : later).push(it);
    // If not all records are loaded, a changed one may match but not be loaded. Only new ones are requested.
    else if (it.hasJoined || isWhole) due.push(it);
  }
  return { due, later, lost };
}

const hasChanged = (before: RecordBody, now: RecordBody): boolean =>
  changedFields(before, now).length > 0 || displayData(before) !== displayData(now);

/** Data that is shown with the values: labels, names of referenced records, and times. */
const displayData = ({ attribute_values, updated_at, deleted_at }: RecordBody): string =>
  JSON.stringify([attribute_values, updated_at, deleted_at]);

type Outcome = {
  live: Live;
  /** Rows to render again. */
  rows: RecordBody[];
  /** The number of records that other users changed, and that they removed from the list. */
  counts: Counts;
};

export type Counts = { changed: number; lost: number };

/**
 * The visible result of changes.
 * @param found the requested records that match the search
 */
export function outcome(
  { marks, fresh }: Live,
  due: readonly Pending[],
  lost: readonly Pending[],
  found: ReadonlyMap<string, RecordBody>,
  loaded: ReadonlyMap<string, RecordBody>,
): Outcome {
  const live = { marks: new Map(marks), fresh: new Set(fresh) };
  const result: Outcome = { live, rows: [], counts: { changed: 0, lost: 0 } };
  const lose = (it: Pending, kind: Mark["kind"]) => {
    live.fresh.delete(it.id);
    if (!loaded.has(it.id) || marks.get(it.id)?.kind === kind) return;
    live.marks.set(it.id, { kind, fields: new Set(), actor: it.actor });
    if (it.actor !== null || kind === "gone") result.counts.lost += 1;
  };
  for (const it of lost) lose(it, lossOf(it));
  for (const it of due) {
    const before = loaded.get(it.id);
    const now = found.get(it.id);
    if (now === undefined) {
      lose(it, "left");
      continue;
    }
    if (before === undefined) {
      live.fresh.add(it.id);
      continue;
    }
    const isBack = isLost(marks.get(it.id));
    if (isBack || it.actor === null) live.marks.delete(it.id);
    // A row that has not changed was written by this tab, or read in the meantime.
    if (!isBack && !hasChanged(before, now)) continue;
    result.rows.push(now);
    if (it.actor === null) continue;
    live.marks.set(it.id, { kind: "changed", fields: it.fields, actor: it.actor });
    result.counts.changed += 1;
  }
  return result;
}

/** The change of a record by another user. */
export const markOf = ({ marks }: Live, id: string): Mark | undefined => marks.get(id);

/** Whether the record has left the list. */
export const isLost = (mark: Mark | undefined): boolean =>
  mark !== undefined && mark.kind !== "changed" && mark.kind !== "new";

const NEW: Mark = { kind: "new", fields: new Set(), actor: null };

/** Removes the marks from before the list was reloaded, which shows their changes. New records are marked. */
export const afterReading = (live: Live, before: Live): Live => ({
  marks: new Map([
    ...[...live.marks].filter(([id, mark]) => !isLost(mark) || before.marks.get(id) !== mark),
    ...[...before.fresh].map((id): [string, Mark] => [id, NEW]),
  ]),
  fresh: new Set([...live.fresh].filter((id) => !before.fresh.has(id))),
});

/** Removes the temporary marks that are unchanged since `old`. */
export const faded = (live: Live, old: Live): Live => ({
  ...live,
  marks: new Map([...live.marks].filter(([id, mark]) => isLost(mark) || old.marks.get(id) !== mark)),
});
