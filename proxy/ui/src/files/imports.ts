/**
 * The imports and exports of this tab. They continue while the user opens other pages, and the list is lost when the tab
 * closes.
 */
import { useSyncExternalStore } from "react";
import { queryClient } from "../api/queries";
import type { Reading } from "./reading";
import {
  type Counts,
  type Importer,
  type Options,
  type RejectedRow,
  type Report,
  reportOf,
  Stopped,
  transfer,
} from "./transfer";

export type Import = {
  id: number;
  file: File;
  reading: Reading;
  options: Options;
  project: string;
  template: string;
  state: "running" | "done" | "stopped" | "failed";
  /** Whether one rejected row undoes everything. */
  isWhole: boolean;
  /** The number of rows, from the dry run. */
  total: number;
  /** The service is busy with other files. */
  isWaiting: boolean;
  /** The import that has locked the template. */
  waitsFor: Importer | null;
  sent: number;
  counts: Counts | null;
  rejected: RejectedRow[];
  report: Report | null;
  error: unknown;
  startedAt: number;
  stop: () => void;
};

/** The rejected rows of a response that is read only after the upload: see `transfer`. */
const MAX_REPORTED = 256 << 10;
const TEXT_OF_A_REJECTION = 250;

let imports: Import[] = [];
const listeners = new Set<() => void>();

function change(id: number, next: Partial<Import>) {
  imports = imports.map((it) => (it.id === id ? { ...it, ...next } : it));
  for (const listener of listeners) listener();
}

/** Asks the user before the tab closes during an import. */
function warn(event: BeforeUnloadEvent) {
  if (imports.some(({ state }) => state === "running")) event.preventDefault();
}
if (typeof window !== "undefined") window.addEventListener("beforeunload", warn);

/** Starts an import after its dry run, and returns its id. */
export function startImport(file: File, reading: Reading, options: Options, trial: Report): number {
  const id = imports.length + 1;
  const controller = new AbortController();
  const begun: Import = {
    id,
    file,
    reading,
    options,
    project: options.project,
    template: options.template,
    state: "running",
    isWhole: options.query.on_error !== "skip",
    total: trial.rows,
    isWaiting: false,
    waitsFor: null,
    sent: 0,
    counts: null,
    rejected: [],
    report: null,
    error: null,
    startedAt: Date.now(),
    stop: () => controller.abort(),
  };
  imports = [...imports, begun];
  change(id, {});
  const rejected: RejectedRow[] = [];
  const length = trial.failed * (file.size / Math.max(1, trial.rows) + TEXT_OF_A_REJECTION);
  const events = {
    sent: (sent: number) => change(id, { sent, isWaiting: false }),
    waiting: () => change(id, { sent: 0, isWaiting: true }),
    counted: (counts: Counts) => change(id, { counts, waitsFor: null }),
    waitsFor: (waitsFor: Importer) => change(id, { waitsFor }),
    rejected: (row: RejectedRow) => rejected.push(row),
  };
  transfer(file, options, length < MAX_REPORTED, events, controller.signal)
    .then(
      (report) => change(id, { state: "done", report, rejected }),
      (error) =>
        change(id, {
          state: error instanceof Stopped ? "stopped" : "failed",
          error: error instanceof Stopped ? null : error,
          report: reportOf(error),
          rejected,
        }),
    )
    .finally(() => queryClient.invalidateQueries());
  return id;
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The imports of this tab, newest last. */
export const useImports = (): Import[] => useSyncExternalStore(subscribe, () => imports);

/**
 * The number of processed rows: as reported by the service, or estimated from the bytes sent. Null during an upload
 * without progress reports.
 */
export function rowsDone({
  counts,
  sent,
  file,
  total,
}: Pick<Import, "counts" | "sent" | "total"> & { file: { size: number } }): number | null {
  const isSent = sent >= file.size;
  if (isSent) return counts?.rows ?? null;
  const bySize = Math.floor((sent / file.size) * total);
  return Math.max(counts?.rows ?? 0, bySize);
}
