/**
 * The open record: loaded, polled while it is open, and written field by field.
 *
 * No write overwrites a change that the user has not seen: each sends the tag of the shown version (`If-Match`). If
 * another user changed another field in the meantime, the write is sent again. If they changed the same field, the user
 * chooses.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Attempt } from "../api/attempt";
import { isFollowing, onChangeOf } from "../api/changes";
import { bodyAndTagOf, bodyOf, DELETE, GET, PATCH, POST, PUT, type Schemas } from "../api/client";
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
  /** The fields that other users changed and the user has not dismissed. */
  changed: string[];
};

const SECONDS = 1_000;
/** The polling interval of a record with and without the change feed. */
const POLLING_WITH_FEED = 60 * SECONDS;
const POLLING = 10 * SECONDS;
const MAX_TRIES = 5;

const shownKey = (id: string, key = currentSession().key) => [key, "record", id];
export const historyKey = (id: string) => [currentSession().key, "history", id];
export const seriesKey = (id: string, slug: string) => [currentSession().key, "series", id, slug];

const cached = (id: string) => queryClient.getQueryData<Shown>(shownKey(id));

/** Loads a record. Returns the object `known` if it is unchanged. */
async function read(project: string, id: string, known?: Shown): Promise<Shown> {
  const header = known ? { "If-None-Match": known.tag } : {};
  const query = { verbose: true, include_deleted: true };
  const call = await GET("/v1/entities/{id}", { params: { path: { id }, query, header } });
  if (call.response.status === 304 && known) return known;
  const { body, tag } = await bodyAndTagOf(Promise.resolve(call));
  return { project, record: body, tag: tag ?? "", changed: [] };
}

/** `next` with the fields that differ from `before` marked as changed by other users. */
function withRemoteChanges(before: Shown | undefined, next: Shown): Shown {
  if (!before || next === before) return next;
  const changed = [...new Set([...before.changed, ...changedFields(before.record, next.record)])];
  return { ...next, changed };
}

/** A record with the labels of its values, reloaded when other users change it. */
export function useRecord(project: string, id: string) {
  const { key } = useSession();
  // Queued after the writes of this tab, which would otherwise look like changes by another user.
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
      // A write that completed during this request is newer than its response.
      if (now !== undefined && now !== known) return now;
      const result = withRemoteChanges(known, next);
      if (result !== known) void queryClient.invalidateQueries({ queryKey: historyKey(id) });
      if (known && result !== known) updateInLists(result);
      return result;
    },
    enabled: key !== null,
    staleTime: 0,
    refetchInterval: () => (isFollowing() ? POLLING_WITH_FEED : POLLING),
    refetchOnWindowFocus: true,
    structuralSharing: false,
  });
}

/** Dismisses the bar of changes. */
export function dismissChanges(id: string) {
  const shown = cached(id);
  if (shown) queryClient.setQueryData<Shown>(shownKey(id), { ...shown, changed: [] });
}

/** Dismisses the notice that another user changed this field. */
export function dismissChange(id: string, field: string) {
  const shown = cached(id);
  if (!shown?.changed.includes(field)) return;
  const changed = shown.changed.filter((it) => it !== field);
  queryClient.setQueryData<Shown>(shownKey(id), { ...shown, changed });
}

/** Shows the record after a write by this tab, with the concurrent changes of other users. */
async function accept(before: Shown, written: RecordBody, ours: string) {
  const { project } = before;
  const { id } = before.record;
  const again = await read(project, id).catch(() => null);
  const fresh = again ?? fromResponse(before, written, ours);
  const others = changedFields(before.record, fresh.record).filter((field) => field !== ours);
  const changed = [...new Set([...before.changed, ...others])].filter((field) => field !== ours);
  // Another user may have changed the same field again between the write and the response.
  const isUnchangedSince = isSame(fieldOf(written, ours), fieldOf(fresh.record, ours));
  queryClient.setQueryData<Shown>(shownKey(id), {
    ...fresh,
    changed: isUnchangedSince ? changed : [...changed, ours],
  });
  void queryClient.invalidateQueries({ queryKey: historyKey(id) });
  if (again === null) void queryClient.invalidateQueries({ queryKey: shownKey(id) });
  updateInLists(fresh);
}

/**
 * The record from the response to a write, for the case that it cannot be reloaded after the successful write.
 * It keeps the earlier tag, so the record must be reloaded before the next write.
 */
function fromResponse(before: Shown, written: RecordBody, ours: string): Shown {
  const { [ours]: _, ...labels } = before.record.attribute_values ?? {};
  return { ...before, record: { ...before.record, ...written, attribute_values: labels } };
}

/** Updates the row of the record in lists. */
function updateInLists({ project, record }: Shown) {
  const { template_slug: template } = record;
  if (template && record.deleted_at == null) showInLists(project, template, record);
}

/** Writes run one after another, so that each sends the current tag. */
const queues = new Map<string, Promise<unknown>>();

function queued<T>(id: string, run: () => Promise<T>): Promise<T> {
  const turn = (queues.get(id) ?? Promise.resolve()).then(run, run);
  queues.set(id, turn);
  return turn;
}

const queuedWrite = <T>(id: string, run: () => Promise<T>): Promise<T> => queued(id, () => writing(run));

const isStale = (error: unknown) => error instanceof RequestError && error.status === 412;

/**
 * Writes with the shown tag, and again if only other fields changed.
 * @returns false without writing anything if `field` is no longer `start`.
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
      queryClient.setQueryData<Shown>(shownKey(id), withRemoteChanges(shown, next));
      updateInLists(next);
    }
  }
}

/**
 * Writes one field that had the value `start`.
 * @returns the value as the service stored it; null if another user changed the field. @throws RequestError
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
  const isWritten = await queuedWrite(id, () =>
    withTag(project, id, isUnchanged, async (shown) => {
      const params = { path: { id }, header: { "If-Match": shown.tag } };
      const written = await bodyOf(PATCH("/v1/entities/{id}", { params, body: change }));
      value = fieldOf(written, field);
      await accept(shown, written, field);
    }),
  );
  return isWritten ? { value } : null;
}

/**
 * Appends points, or adds to a number. Concurrent writes of other users do not conflict. An attempt takes effect once,
 * however often it is sent.
 * @returns false without sending anything if the attempt is already in flight. @throws RequestError
 */
export async function addTo(id: string, field: string, value: Json, attempt: Attempt): Promise<boolean> {
  const body = { attributes: { [field]: value } } as Schemas["RecordChange"];
  const written = await attempt.send((name) =>
    queuedWrite(id, async () => {
      const params = { path: { id }, header: { "Idempotency-Key": name } };
      const written = await bodyOf(PATCH("/v1/entities/{id}", { params, body }));
      const shown = cached(id);
      if (shown) await accept(shown, written, field);
      void queryClient.invalidateQueries({ queryKey: seriesKey(id, field) });
      return written;
    }),
  );
  return written !== null;
}

/**
 * Corrects a series: replaces the points at a time by one, or deletes them. The latest value is updated.
 * @throws RequestError
 */
export function correctPoint(id: string, slug: string, at: string, value: Json | null): Promise<void> {
  return queuedWrite(id, async () => {
    const path = { id, slug };
    const body = { points: [{ at, value }] } as Schemas["Points"];
    if (value === null)
      await bodyOf(DELETE("/v1/entities/{id}/metrics/{slug}", { params: { path, query: { at } } }));
    else await bodyOf(PUT("/v1/entities/{id}/metrics/{slug}", { params: { path }, body }));
    const shown = cached(id);
    if (shown) await reload(shown.project, id);
    const fresh = cached(id);
    if (fresh) updateInLists(fresh);
    void queryClient.invalidateQueries({ queryKey: seriesKey(id, slug) });
  });
}

/** Deletes the record in the shown version. @throws RequestError, 412 if the version has changed */
export function deleteRecord(project: string, template: string, id: string): Promise<void> {
  return queuedWrite(id, async () => {
    const shown = cached(id);
    const header = shown ? { "If-Match": shown.tag } : {};
    try {
      await bodyOf(DELETE("/v1/entities/{id}", { params: { path: { id }, header } }));
    } catch (error) {
      if (isStale(error)) void queryClient.invalidateQueries({ queryKey: shownKey(id) });
      throw error;
    }
    dropFromLists(project, template, new Set([id]));
    await reload(project, id);
  });
}

/** Restores the record, with another key or without one if `key` is given. @throws RequestError */
export function restoreRecord(
  project: string,
  template: string,
  id: string,
  key?: string | null,
): Promise<void> {
  return queuedWrite(id, async () => {
    const params = { path: { id } };
    const body = key === undefined ? {} : { external_key: key };
    await bodyOf(POST("/v1/entities/{id}/restore", { params, body }));
    await reload(project, id);
    void refreshLists(project, template);
  });
}

/** Shows the record after a successful deletion or restoration, even if it cannot be reloaded. */
async function reload(project: string, id: string) {
  const fresh = await read(project, id).catch(() => null);
  if (fresh !== null) queryClient.setQueryData<Shown>(shownKey(id), fresh);
  else void queryClient.invalidateQueries({ queryKey: shownKey(id) });
  void queryClient.invalidateQueries({ queryKey: historyKey(id) });
}
