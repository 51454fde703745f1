/**
 * Changes many records in consecutive batches of at most a thousand, until they are done or stopped.
 *
 * A stopped change keeps its results. Errors are reported per record.
 */
import type { Schemas } from "../api/client";
import type { Json } from "../api/json";
import { inSentences } from "../api/problem";
import type { RecordBody } from "../api/queries";
import { isStoredAs } from "../value/exact";
import type { SearchBody } from "./state";

/** The maximum number of operations per batch and of records per page. */
export const MAX_BATCH = 1000;
/** The number of concurrent requests for single records. */
const MAX_CONCURRENT = 6;
/** The number of rejections that are kept with their message. Others are only counted. */
const MAX_REJECTIONS = 20;

type Operation = Schemas["Operation"];

/** The service calls of a bulk change. */
export type Service = {
  search: (body: SearchBody, signal: AbortSignal) => Promise<Schemas["SearchResult"]>;
  batch: (operations: Operation[], signal: AbortSignal) => Promise<Schemas["BatchReport"]>;
  restore: (id: string, signal: AbortSignal) => Promise<unknown>;
  sentence: (error: unknown) => string;
};

export type Rejection = { id: string; name: string; reason: string };
export type Outcome = {
  done: string[];
  rejected: Rejection[];
  /** Rejections in addition to the listed ones. */
  moreRejected: number;
  isStopped: boolean;
  /** Why the change ended early, if the service failed. */
  error?: unknown;
};

/** Records by id, or all that match a search. */
export type Target = { kind: "some"; records: readonly RecordBody[] } | { kind: "all"; body: SearchBody };

type Report = (done: number) => void;

const isAbort = (error: unknown) => error instanceof DOMException && error.name === "AbortError";

/** The records of a target in pages. Search results are ordered by id, so that no change moves them past the cursor. */
export async function* pagesOf(
  service: Service,
  target: Target,
  fields: string[],
  signal: AbortSignal,
): AsyncGenerator<RecordBody[]> {
  if (target.kind === "some") {
    for (const part of partsOf(target.records)) yield part;
    return;
  }
  const body: SearchBody = { ...target.body, sort: "id", fields, limit: MAX_BATCH };
  let cursor: string | null = null;
  do {
    const page: Schemas["SearchResult"] = await service.search(
      cursor === null ? body : { ...body, cursor },
      signal,
    );
    if (page.records.length > 0) yield page.records;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

export function* partsOf<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += MAX_BATCH) yield all.slice(at, at + MAX_BATCH);
}

const begin = (): Outcome => ({ done: [], rejected: [], moreRejected: 0, isStopped: false });

function addRejection(outcome: Outcome, rejection: Rejection) {
  if (outcome.rejected.length < MAX_REJECTIONS) outcome.rejected.push(rejection);
  else outcome.moreRejected += 1;
}

/** Runs steps until they are done, stopped or fail, and records this in the outcome. */
async function until(outcome: Outcome, signal: AbortSignal, steps: () => Promise<void>): Promise<Outcome> {
  try {
    await steps();
  } catch (error) {
    if (isAbort(error) || signal.aborted) outcome.isStopped = true;
    else outcome.error = error;
  }
  return outcome;
}

const nameOf = ({ external_key: key, id }: RecordBody) => key ?? id;

async function write(
  service: Service,
  records: readonly RecordBody[],
  operation: (record: RecordBody) => Operation,
  outcome: Outcome,
  signal: AbortSignal,
) {
  signal.throwIfAborted();
  const { results } = await service.batch(records.map(operation), signal);
  for (const { index, error } of results) {
    const record = records[index];
    if (!record) continue;
    if (error)
      addRejection(outcome, { id: record.id, name: nameOf(record), reason: inSentences(error).detail });
    else outcome.done.push(record.id);
  }
}

/** Deletes records. */
export function deleteMany(
  service: Service,
  template: string,
  target: Target,
  signal: AbortSignal,
  report: Report,
) {
  const outcome = begin();
  return until(outcome, signal, async () => {
    for await (const page of pagesOf(service, target, [], signal)) {
      await write(service, page, ({ id }) => ({ op: "delete", template, id }), outcome, signal);
      report(outcome.done.length);
    }
  });
}

/** The data to undo a change of an attribute. */
export type FormerValues = { attribute: string; written: Json; values: Map<string, Json> };

const valueAt = (record: RecordBody, attribute: string) => (record.attributes?.[attribute] ?? null) as Json;

/** Sets an attribute of records to a value, and stores the former values. */
export async function setMany(
  service: Service,
  template: string,
  target: Target,
  attribute: string,
  value: Json,
  signal: AbortSignal,
  report: Report,
): Promise<{ outcome: Outcome; former: FormerValues }> {
  const outcome = begin();
  const former: FormerValues = { attribute, written: value, values: new Map() };
  await until(outcome, signal, async () => {
    for await (const page of pagesOf(
      service,
      await read(service, target, attribute, signal),
      [attribute],
      signal,
    )) {
      const before = outcome.done.length;
      await write(
        service,
        page,
        ({ id }) => ({ op: "update", template, id, attributes: { [attribute]: value as never } }),
        outcome,
        signal,
      );
      const written = new Set(outcome.done.slice(before));
      for (const record of page) {
        if (written.has(record.id)) former.values.set(record.id, valueAt(record, attribute));
      }
      report(outcome.done.length);
    }
  });
  return { outcome, former };
}

/** Reads the current values of listed records, for attributes that the list does not load. */
async function read(
  service: Service,
  target: Target,
  attribute: string,
  signal: AbortSignal,
): Promise<Target> {
  if (target.kind === "all") return target;
  const records: RecordBody[] = [];
  for (const part of partsOf(target.records)) {
    records.push(
      ...(await current(
        service,
        part.map(({ id }) => id),
        attribute,
        signal,
      )),
    );
  }
  return { kind: "some", records };
}

async function current(service: Service, ids: string[], attribute: string, signal: AbortSignal) {
  const filters = [{ field: "id", operator: "in" as const, value: ids }];
  return (await service.search({ filters, fields: [attribute], limit: MAX_BATCH }, signal)).records;
}

/** Restores the former values of records. A value that another user has changed since stays. */
export function undoSet(
  service: Service,
  template: string,
  { attribute, written, values }: FormerValues,
  changedSince: string,
  signal: AbortSignal,
  report: Report,
) {
  const outcome = begin();
  return until(outcome, signal, async () => {
    for (const ids of partsOf([...values.keys()])) {
      const records = await current(service, ids, attribute, signal);
      const same = records.filter((record) => isStoredAs(written, valueAt(record, attribute)));
      for (const record of records) {
        if (!same.includes(record))
          addRejection(outcome, { id: record.id, name: nameOf(record), reason: changedSince });
      }
      if (same.length === 0) continue;
      const restored = (id: string) => ({ [attribute]: (values.get(id) ?? null) as never });
      await write(
        service,
        same,
        ({ id }) => ({ op: "update", template, id, attributes: restored(id) }),
        outcome,
        signal,
      );
      report(outcome.done.length);
    }
  });
}

/** Restores deleted records, several concurrently. */
export function restoreMany(service: Service, target: Target, signal: AbortSignal, report: Report) {
  const outcome = begin();
  return until(outcome, signal, async () => {
    for await (const page of pagesOf(service, target, [], signal)) {
      const left = [...page];
      const work = async () => {
        for (let record = left.shift(); record; record = left.shift()) {
          signal.throwIfAborted();
          try {
            await service.restore(record.id, signal);
            outcome.done.push(record.id);
          } catch (error) {
            if (isAbort(error)) throw error;
            addRejection(outcome, { id: record.id, name: nameOf(record), reason: service.sentence(error) });
          }
          report(outcome.done.length);
        }
      };
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
    }
  });
}
