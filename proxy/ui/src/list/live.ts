/** What changes of records mean for a list that shows some of them. */
import type { Change } from "../api/changes";
import type { RecordBody } from "../api/queries";
import { changedFields } from "../record/merge";

/** What others did with a record of the list. */
export type Mark = {
  /** `left`: it no longer matches. `gone`: the reader may no longer see it. */
  kind: "changed" | "new" | "deleted" | "gone" | "left";
  fields: ReadonlySet<string>;
  /** Who did it, as the history says it; null if it is unknown, or the reader. */
  actor: string | null;
};

export type Live = {
  marks: ReadonlyMap<string, Mark>;
  /** Records that match and are not loaded. */
  fresh: ReadonlySet<string>;
};

export const NOTHING: Live = { marks: new Map(), fresh: new Set() };

/** All changes of a record that the list has not looked at. */
export type Pending = {
  id: string;
  operation: Change["operation"];
  fields: ReadonlySet<string>;
  /** Whether one of them brought it into lists like this one, as its creation does. */
  hasJoined: boolean;
  actor: string | null;
};

/** Adds changes to those that wait. `isOwn`: by this tab. */
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

/** Whether the change takes a record out of every list like this one, so that nothing has to be asked. */
const isLoss = ({ operation }: Pending, areDeleted: boolean): boolean =>
  operation === "gone" || operation === (areDeleted ? "restore" : "delete");

const lossOf = ({ operation }: Pending): Mark["kind"] =>
  operation === "gone" ? "gone" : operation === "delete" ? "deleted" : "left";

type Seen = {
  /** The records of the list. */
  loaded: ReadonlyMap<string, RecordBody>;
  /** Whether those are all that there are. */
  isWhole: boolean;
  areDeleted: boolean;
  isRendered: (id: string) => boolean;
};

/** Which of those that wait are asked about now, which later, and which have left the list. Others do not matter to it. */
export function sorted(pending: Iterable<Pending>, { loaded, isWhole, areDeleted, isRendered }: Seen) {
  const [asked, later, lost]: [Pending[], Pending[], Pending[]] = [[], [], []];
  for (const it of pending) {
    const isLoaded = loaded.has(it.id);
    if (isLoss(it, areDeleted)) lost.push(it);
    else if (isLoaded) (isRendered(it.id) ? asked : later).push(it);
    // Where there are more records than are loaded, one that is changed may be among the others.
    else if (it.hasJoined || isWhole) asked.push(it);
  }
  return { asked, later, lost };
}

const hasChanged = (before: RecordBody, now: RecordBody): boolean =>
  changedFields(before, now).length > 0 || beside(before) !== beside(now);

/** What stands beside the values: labels, names of referenced records, and times. */
const beside = ({ attribute_values, updated_at, deleted_at }: RecordBody): string =>
  JSON.stringify([attribute_values, updated_at, deleted_at]);

type Outcome = {
  live: Live;
  /** Rows that are shown again. */
  rows: RecordBody[];
  /** How many records others changed, and how many they took away. */
  counts: Counts;
};

export type Counts = { changed: number; lost: number };

/**
 * What is shown of changes.
 * @param found the records among those asked about that match the search
 */
export function outcome(
  { marks, fresh }: Live,
  asked: readonly Pending[],
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
  for (const it of asked) {
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
    // What the list shows already is what this tab wrote, or read meanwhile.
    if (!isBack && !hasChanged(before, now)) continue;
    result.rows.push(now);
    if (it.actor === null) continue;
    live.marks.set(it.id, { kind: "changed", fields: it.fields, actor: it.actor });
    result.counts.changed += 1;
  }
  return result;
}

/** What others did with a record. */
export const markOf = ({ marks }: Live, id: string): Mark | undefined => marks.get(id);

/** Whether the record has left the list. */
export const isLost = (mark: Mark | undefined): boolean =>
  mark !== undefined && mark.kind !== "changed" && mark.kind !== "new";

const NEW: Mark = { kind: "new", fields: new Set(), actor: null };

/** Without what was known before the list was read again: the list shows it. New records are marked as such. */
export const afterReading = (live: Live, before: Live): Live => ({
  marks: new Map([
    ...[...live.marks].filter(([id, mark]) => !isLost(mark) || before.marks.get(id) !== mark),
    ...[...before.fresh].map((id): [string, Mark] => [id, NEW]),
  ]),
  fresh: new Set([...live.fresh].filter((id) => !before.fresh.has(id))),
});

/** Without the marks that are shown for a while, as far as they are still those of `old`. */
export const faded = (live: Live, old: Live): Live => ({
  ...live,
  marks: new Map([...live.marks].filter(([id, mark]) => isLost(mark) || old.marks.get(id) !== mark)),
});
