/**
 * The record that is open: read, asked again while it is looked at, and written field by field.
 *
 * No write overwrites what its writer has not seen: each sends the tag of the version that is shown (`If-Match`). If
 * another user changed another field meanwhile, the write is sent again; if they changed the same one, the writer
 * chooses.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Attempt } from "../api/attempt";
import { isFollowing, onChangeOf } from "../api/changes";
import { answer, answerWithTag, DELETE, GET, PATCH, POST, PUT, type Schemas } from "../api/client";
import type { Json } from "../api/json";
import { dropFromLists, refreshLists, showInLists } from "../api/lists";
import { writing } from "../api/ownWrites";
import { RequestError } from "../api/problem";
import { queryClient, type RecordBody } from "../api/queries";
import { currentSession, useSession } from "../session/session";
import { isSame } from "../value/exact";
import { changedFields, fieldOf } from "./merge";

export type Shown = {
  project: string;
  record: RecordBody;
  tag: string;
  /** The fields that others changed since they were last said to have. */
  changed: string[];
};

const SECONDS = 1_000;
/** How often a record is asked again while the feed of changes reports that it changed, and without it. */
const RARELY = 60 * SECONDS;
const POLLING = 10 * SECONDS;
const MAX_TRIES = 5;

const shownKey = (id: string, key = currentSession().key) => [key, "record", id];
export const historyKey = (id: string) => [currentSession().key, "history", id];
export const seriesKey = (id: string, slug: string) => [currentSession().key, "series", id, slug];

const cached = (id: string) => queryClient.getQueryData<Shown>(shownKey(id));

/** Reads a record; the same object if it is as `known`. */
async function read(project: string, id: string, known?: Shown): Promise<Shown> {
  const header = known ? { "If-None-Match": known.tag } : {};
  const query = { verbose: true, include_deleted: true };
  const call = await GET("/v1/entities/{id}", { params: { path: { id }, query, header } });
  if (call.response.status === 304 && known) return known;
  const { body, tag } = await answerWithTag(Promise.resolve(call));
  return { project, record: body, tag: tag ?? "", changed: [] };
}

/** `next` after `before`: what differs was changed by others. */
function seen(before: Shown | undefined, next: Shown): Shown {
  if (!before || next === before) return next;
  const changed = [...new Set([...before.changed, ...changedFields(before.record, next.record)])];
  return { ...next, changed };
}

/** A record with the labels of its values, asked again when others change it. */
export function useRecord(project: string, id: string) {
  const { key } = useSession();
  // After what this tab writes, or else that would be shown as the work of another user.
  useEffect(
    () => onChangeOf(id, () => void queued(id, () => queryClient.refetchQueries({ queryKey: shownKey(id) }))),
    [id],
  );
  return useQuery({
    queryKey: shownKey(id, key),
    queryFn: async () => {
      const known = cached(id);
      const next = await read(project, id, known);
      const now = cached(id);
      // What was written while this answer was under way is newer than the answer.
      if (now !== undefined && now !== known) return now;
      const result = seen(known, next);
      if (result !== known) void queryClient.invalidateQueries({ queryKey: historyKey(id) });
      if (known && result !== known) listAnew(result);
      return result;
    },
    enabled: key !== null,
    staleTime: 0,
    refetchInterval: () => (isFollowing() ? RARELY : POLLING),
    refetchOnWindowFocus: true,
    structuralSharing: false,
  });
}

/** The bar of changes was read. */
export function dismissChanges(id: string) {
  const shown = cached(id);
  if (shown) queryClient.setQueryData<Shown>(shownKey(id), { ...shown, changed: [] });
}

/** Dismisses the notice that others changed this field. */
export function dismissChange(id: string, field: string) {
  const shown = cached(id);
  if (!shown?.changed.includes(field)) return;
  const changed = shown.changed.filter((it) => it !== field);
  queryClient.setQueryData<Shown>(shownKey(id), { ...shown, changed });
}

/** Shows the record as it is after a write of our own, with what others changed at the same time. */
async function accept(before: Shown, written: RecordBody, ours: string) {
  const { project } = before;
  const { id } = before.record;
  const again = await read(project, id).catch(() => null);
  const fresh = again ?? answered(before, written, ours);
  const others = changedFields(before.record, fresh.record).filter((field) => field !== ours);
  const changed = [...new Set([...before.changed, ...others])].filter((field) => field !== ours);
  // Between the write and the answer, another user may have changed the same field again.
  const isOursAgain = isSame(fieldOf(written, ours), fieldOf(fresh.record, ours));
  queryClient.setQueryData<Shown>(shownKey(id), {
    ...fresh,
    changed: isOursAgain ? changed : [...changed, ours],
  });
  void queryClient.invalidateQueries({ queryKey: historyKey(id) });
  if (again === null) void queryClient.invalidateQueries({ queryKey: shownKey(id) });
  listAnew(fresh);
}

/**
 * The record as the answer to a write has it, where it could not be read after the write, which is done all the same.
 * Its tag is that of the version before: nothing more is written before the record was read.
 */
function answered(before: Shown, written: RecordBody, ours: string): Shown {
  const { [ours]: _, ...labels } = before.record.attribute_values ?? {};
  return { ...before, record: { ...before.record, ...written, attribute_values: labels } };
}

/** The row of the record says what the record says. */
function listAnew({ project, record }: Shown) {
  const { template_slug: template } = record;
  if (template && record.deleted_at == null) showInLists(project, template, record);
}

/** Writes run one after the other, so that each sends the current tag. */
const queues = new Map<string, Promise<unknown>>();

function queued<T>(id: string, run: () => Promise<T>): Promise<T> {
  const turn = (queues.get(id) ?? Promise.resolve()).then(run, run);
  queues.set(id, turn);
  return turn;
}

const inTurn = <T>(id: string, run: () => Promise<T>): Promise<T> => queued(id, () => writing(run));

const isStale = (error: unknown) => error instanceof RequestError && error.status === 412;

/**
 * Writes with the tag that is shown, and again if only other fields changed.
 * @returns false if `field` is no longer `start`; nothing is written then.
 */
async function withTag(
  project: string,
  id: string,
  isUnchanged: (record: RecordBody) => boolean,
  send: (shown: Shown) => Promise<void>,
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const shown = cached(id) ?? (await read(project, id));
    if (!isUnchanged(shown.record)) return false;
    try {
      await send(shown);
      return true;
    } catch (error) {
      if (!isStale(error) || attempt === MAX_TRIES) throw error;
      const next = await read(project, id);
      queryClient.setQueryData<Shown>(shownKey(id), seen(shown, next));
      listAnew(next);
    }
  }
}

/**
 * Writes one field that had the value `start`.
 * @returns the value as the service wrote it; null if others changed that field. @throws RequestError
 */
export async function saveField(
  project: string,
  id: string,
  field: string,
  start: Json,
  change: Schemas["RecordChange"],
): Promise<{ value: Json } | null> {
  const isUnchanged = (record: RecordBody) => isSame(fieldOf(record, field), start);
  let value: Json = null;
  const isWritten = await inTurn(id, () =>
    withTag(project, id, isUnchanged, async (shown) => {
      const params = { path: { id }, header: { "If-Match": shown.tag } };
      const written = await answer(PATCH("/v1/entities/{id}", { params, body: change }));
      value = fieldOf(written, field);
      await accept(shown, written, field);
    }),
  );
  return isWritten ? { value } : null;
}

/**
 * Appends points, or adds to a number: what others write at the same time does not conflict. However often the attempt
 * is sent, it is added once.
 * @returns false if the attempt is under way already; nothing is sent then. @throws RequestError
 */
export async function addTo(id: string, field: string, value: Json, attempt: Attempt): Promise<boolean> {
  const body = { attributes: { [field]: value } } as Schemas["RecordChange"];
  const written = await attempt.send((name) =>
    inTurn(id, async () => {
      const params = { path: { id }, header: { "Idempotency-Key": name } };
      const written = await answer(PATCH("/v1/entities/{id}", { params, body }));
      const shown = cached(id);
      if (shown) await accept(shown, written, field);
      void queryClient.invalidateQueries({ queryKey: seriesKey(id, field) });
      return written;
    }),
  );
  return written !== null;
}

/**
 * Corrects a series: the points of a time are replaced by one, or deleted without one. The latest value follows.
 * @throws RequestError
 */
export function correctPoint(id: string, slug: string, at: string, value: Json | null): Promise<void> {
  return inTurn(id, async () => {
    const path = { id, slug };
    const body = { points: [{ at, value }] } as Schemas["Points"];
    if (value === null)
      await answer(DELETE("/v1/entities/{id}/metrics/{slug}", { params: { path, query: { at } } }));
    else await answer(PUT("/v1/entities/{id}/metrics/{slug}", { params: { path }, body }));
    const shown = cached(id);
    if (shown) await reload(shown.project, id);
    const fresh = cached(id);
    if (fresh) listAnew(fresh);
    void queryClient.invalidateQueries({ queryKey: seriesKey(id, slug) });
  });
}

/** Marks the record as deleted, in the version that is shown. @throws RequestError, 412 if it is another now */
export function deleteRecord(project: string, template: string, id: string): Promise<void> {
  return inTurn(id, async () => {
    const shown = cached(id);
    const header = shown ? { "If-Match": shown.tag } : {};
    try {
      await answer(DELETE("/v1/entities/{id}", { params: { path: { id }, header } }));
    } catch (error) {
      if (isStale(error)) void queryClient.invalidateQueries({ queryKey: shownKey(id) });
      throw error;
    }
    dropFromLists(project, template, new Set([id]));
    await reload(project, id);
  });
}

/** Restores the record, with another key or none if `key` is given. @throws RequestError */
export function restoreRecord(
  project: string,
  template: string,
  id: string,
  key?: string | null,
): Promise<void> {
  return inTurn(id, async () => {
    const params = { path: { id } };
    const body = key === undefined ? {} : { external_key: key };
    await answer(POST("/v1/entities/{id}/restore", { params, body }));
    await reload(project, id);
    void refreshLists(project, template);
  });
}

/** Shows the record as it is after a deletion or restoration, which is done also where it cannot be read. */
async function reload(project: string, id: string) {
  const fresh = await read(project, id).catch(() => null);
  if (fresh !== null) queryClient.setQueryData<Shown>(shownKey(id), fresh);
  else void queryClient.invalidateQueries({ queryKey: shownKey(id) });
  void queryClient.invalidateQueries({ queryKey: historyKey(id) });
}
