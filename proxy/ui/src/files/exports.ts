/** The exports of this tab: the results of a search, without pages, as a file. */
import { useSyncExternalStore } from "react";
import { type ExportFormat, type ExportQuery, requestExport } from "../api/export";
import { RequestError } from "../api/problem";
import { save } from "../components/save";
import { pageMessages } from "../language/pages";
import { type Csv, csvQuery } from "./spreadsheet";

export type ExportOptions = {
  project: string;
  template: string;
  format: ExportFormat;
  /** The CSV dialect. */
  csv: Csv;
  /** A saved view; null for all records. */
  view: string | null;
};

export type Export = ExportOptions & {
  id: number;
  name: string;
  state: "running" | "done" | "stopped" | "failed";
  bytes: number;
  file: Blob | null;
  error: unknown;
  startedAt: number;
  stop: () => void;
};

/** Chunks are merged from time to time, so that the browser can move them out of memory. */
const PIECE = 8 << 20;

let exports: Export[] = [];
const listeners = new Set<() => void>();

function change(id: number, next: Partial<Export>) {
  exports = exports.map((it) => (it.id === id ? { ...it, ...next } : it));
  for (const listener of listeners) listener();
}

/** customers.csv, customers-vip.csv */
export const exportName = ({ template, view, format }: Pick<ExportOptions, "template" | "view" | "format">) =>
  `${template}${view === null ? "" : `-${view}`}.${format}`;

/** Starts an export. The file is saved when it is complete. */
export function startExport(options: ExportOptions): number {
  const id = exports.length + 1;
  const controller = new AbortController();
  const begun: Export = {
    ...options,
    id,
    name: exportName(options),
    state: "running",
    bytes: 0,
    file: null,
    error: null,
    startedAt: Date.now(),
    stop: () => controller.abort(),
  };
  exports = [...exports, begun];
  change(id, {});
  receive(options, (bytes) => change(id, { bytes }), controller.signal).then(
    (file) => {
      change(id, { state: "done", file, bytes: file.size });
      save(file, begun.name);
    },
    (error) => change(id, controller.signal.aborted ? { state: "stopped" } : { state: "failed", error }),
  );
  return id;
}

async function receive(
  options: ExportOptions,
  count: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  const { project, template, format, csv, view } = options;
  const form: ExportQuery = format === "csv" ? csvQuery(csv) : { format };
  const query = { ...form, ...(view !== null && { view }) };
  const response = await requestExport(project, template, query, {}, signal);
  if (!response.body) throw new RequestError(0, null, pageMessages.files.exportBroken);
  const type = response.headers.get("content-type") ?? "";
  let file = new Blob([], { type });
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let held = 0;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (value) {
        pieces.push(value);
        held += value.length;
        count(file.size + held);
      }
      if (done || held > PIECE) {
        file = new Blob([file, ...pieces], { type });
        pieces = [];
        held = 0;
      }
      if (done) return file;
    }
  } catch {
    // The service cannot report a late error in any other way.
    throw new RequestError(0, null, pageMessages.files.exportBroken);
  }
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The exports of this tab, newest last. */
export const useExports = (): Export[] => useSyncExternalStore(subscribe, () => exports);
