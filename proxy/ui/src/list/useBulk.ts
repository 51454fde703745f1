import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { bodyOf, inProject, POST } from "../api/client";
import type { Json } from "../api/json";
import { dropFromLists, refreshLists } from "../api/lists";
import { writing } from "../api/ownWrites";
import { sentence } from "../api/problem";
import { messages } from "../language";
import { offerUndo, withdrawUndo } from "../navigation/undo";
import { deleteMany, type Outcome, restoreMany, type Service, setMany, type Target, undoSet } from "./bulk";
import { search } from "./useRecords";

/** The undo subject of a bulk change, whatever its records. Ctrl+Z undoes the last one. */
const UNDO = "many records";

export type Kind = "delete" | "set" | "restore" | "undo";
export type Task = { kind: Kind; done: number; total: number | null };
export type Result = { kind: Kind; outcome: Outcome; undo: (() => void) | null };

/** The ids of recently deleted records. */
const deleted = (ids: readonly string[]): Target => ({
  kind: "some",
  records: ids.map((id) => ({ id, external_key: null })),
});

function serviceOf(project: string, template: string): Service {
  const header = inProject(project);
  return {
    sentence,
    search: (body, signal) => search(project, template, body, signal),
    batch: (operations, signal) =>
      bodyOf(POST("/v1/entities/batch", { params: { header }, body: { operations }, signal })),
    restore: (id, signal) => bodyOf(POST("/v1/entities/{id}/restore", { params: { path: { id } }, signal })),
  };
}

/** Bulk changes: the running one, the last outcome, and undo. */
export function useBulk(project: string, template: string) {
  const [task, setTask] = useState<Task | null>(null);
  const [result, setResult] = useState<Result | null>(null);
  const controller = useRef<AbortController | null>(null);
  const service = useMemo(() => serviceOf(project, template), [project, template]);

  // A running change stops when the user leaves the list.
  useEffect(
    () => () => {
      controller.current?.abort();
      withdrawUndo(UNDO);
    },
    [],
  );

  const run = useCallback(
    async (
      kind: Kind,
      total: number | null,
      work: (signal: AbortSignal, report: (done: number) => void) => Promise<[Outcome, (() => void) | null]>,
    ) => {
      controller.current = new AbortController();
      setResult(null);
      setTask({ kind, done: 0, total });
      const { signal } = controller.current;
      const [outcome, undo] = await writing(() => work(signal, (done) => setTask({ kind, done, total })));
      setTask(null);
      const availableUndo = outcome.done.length > 0 ? undo : null;
      setResult({ kind, outcome, undo: availableUndo });
      if (availableUndo) offerUndo(UNDO, availableUndo);
      else withdrawUndo(UNDO);
      if (kind === "delete") dropFromLists(project, template, new Set(outcome.done));
      else await refreshLists(project, template);
    },
    [project, template],
  );

  const restore = useCallback(
    (target: Target, total: number | null) =>
      run("restore", total, async (signal, report) => [
        await restoreMany(service, target, signal, report),
        null,
      ]),
    [run, service],
  );
  const remove = useCallback(
    (target: Target, total: number | null) =>
      run("delete", total, async (signal, report) => {
        const outcome = await deleteMany(service, template, target, signal, report);
        return [outcome, () => restore(deleted(outcome.done), outcome.done.length)];
      }),
    [run, service, template, restore],
  );
  const set = useCallback(
    (target: Target, total: number | null, attribute: string, value: Json) =>
      run("set", total, async (signal, report) => {
        const { outcome, former } = await setMany(
          service,
          template,
          target,
          attribute,
          value,
          signal,
          report,
        );
        const undo = () =>
          run("undo", former.values.size, async (signal, report) => [
            await undoSet(service, template, former, messages.list.changedSince, signal, report),
            null,
          ]);
        return [outcome, undo];
      }),
    [run, service, template],
  );
  return {
    task,
    result,
    restore,
    remove,
    set,
    stop: () => controller.current?.abort(),
    dismiss: () => setResult(null),
  };
}
