/** Sends a file to the service. The browser streams the file, so its size is not limited by memory. */
import { inProject, type Schemas } from "../api/client";
import { parseJson } from "../api/json";
import { RequestError, requestError } from "../api/problem";
import { pageMessages } from "../language/pages";
import { readFromPrimary } from "../session/position";
import { currentSession, markRejected } from "../session/session";
import type { CellFormat } from "./cellFormat";

export type Rejection = { line: number; column: string | null; code: string; message: string };

/** A rejected row with its original text; with `cells` if the browser has parsed them. */
export type RejectedRow = { line: number; row: string; cells?: string[]; errors: Rejection[] };

export type Counts = { rows: number; created: number; updated: number; unchanged: number; failed: number };

/** A warning about a likely mistake, with the first lines that have it. */
export type Warning = { code: string; message: string; lines: number[] };

export type Report = Counts & {
  dry_run: boolean;
  encoding: string;
  delimiter?: string;
  suggested_format?: CellFormat;
  preview?: Schemas["ImportPreview"];
  warnings?: Warning[];
  errors: Rejection[];
};

export type Options = {
  project: string;
  template: string;
  contentType: string;
  /** The parameters of the import. */
  query: Record<string, string>;
};

/** A running import that blocks others. */
export type Importer = { role: string; since: string | null };

export type Events = {
  /** The number of bytes sent. */
  sent: (bytes: number) => void;
  counted: (counts: Counts) => void;
  rejected: (row: RejectedRow) => void;
  /** Another import has locked the template. This one waits for its end. */
  waitsFor: (importer: Importer) => void;
  /** The service processes its maximum number of files. This one is sent again shortly. */
  waiting: () => void;
};

/** The transfer ended because the user stopped it. */
export class Stopped extends Error {}

/**
 * Sends the file and waits for the report.
 *
 * With `isReported`, the response has a line for each chunk and each rejected row. Browsers read a response only after
 * they have sent the whole request. A long response would fill all buffers during the upload and block both sides.
 * So use it only for files with few rejected rows.
 *
 * @throws Stopped if `signal` aborts; RequestError if the file was rejected.
 */
export async function transfer(
  file: File,
  options: Options,
  isReported: boolean,
  events: Partial<Events>,
  signal: AbortSignal,
): Promise<Report> {
  let isTaken = false;
  const taken = () => {
    isTaken = true;
  };
  for (let tries = 1; ; tries++) {
    try {
      return await sendOnce(file, options, isReported, events, signal, taken);
    } catch (error) {
      if (isTaken || !isBusy(error) || tries === MAX_TRIES) throw error;
      events.waiting?.();
      await pause(signal);
    }
  }
}

/**
 * Whether the service rejected the file because it was busy, and wrote nothing. It can also become busy in the middle of
 * a file. Then rows without a key may already be written, and sending the file again would create them twice.
 */
function isBusy(error: unknown): boolean {
  if (!(error instanceof RequestError) || error.status !== 429) return false;
  if (error.problem?.retryable === false || error.problem?.outcome !== undefined) return false;
  const report = reportOf(error);
  return report === null || report.rows === 0 || report.dry_run;
}

const MAX_TRIES = 30;
const PAUSE = 2_000;

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new Stopped());
    });
  });
}

function sendOnce(
  file: File,
  options: Options,
  isReported: boolean,
  events: Partial<Events>,
  signal: AbortSignal,
  taken: () => void,
): Promise<Report> {
  const request = new XMLHttpRequest();
  const { project, template, contentType, query } = options;
  const address = `/v1/entities/template/${encodeURIComponent(template)}/import?${new URLSearchParams(query)}`;
  const { key } = currentSession();
  return new Promise((resolve, reject) => {
    request.open("POST", address);
    const headers = { ...inProject(project), "Content-Type": contentType, Authorization: `Bearer ${key}` };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.setRequestHeader("Accept", isReported ? "application/x-ndjson" : "application/json");
    const lines = new Lines(events);
    request.upload.onprogress = (event) => events.sent?.(event.loaded);
    request.upload.onload = () => events.sent?.(file.size);
    request.onprogress = () =>
      isReported && request.status === 200 && lines.read(request.responseText, false);
    request.onload = () => {
      if (request.status === 200) taken();
      readFromPrimary();
      if (request.status === 401 && key !== null) markRejected(key);
      try {
        if (request.status !== 200) throw requestError(request.status, tryParse(request.responseText));
        resolve(
          isReported ? lines.read(request.responseText, true) : (parseJson(request.responseText) as Report),
        );
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = () => {
      readFromPrimary();
      reject(new RequestError(0, null, pageMessages.files.connectionLost));
    };
    signal.addEventListener("abort", () => {
      request.abort();
      reject(new Stopped());
    });
    if (signal.aborted) reject(new Stopped());
    else request.send(file);
  });
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** Reads the lines of a response as they arrive. */
export class Lines {
  private at = 0;
  private report: Report | null = null;

  constructor(private readonly events: Partial<Events>) {}

  /** Reads the new lines. @throws RequestError if the response reports an error, or ends without a report. */
  read(text: string, isEnd: boolean): Report {
    const end = isEnd ? text.length : text.lastIndexOf("\n") + 1;
    for (const line of text.slice(this.at, end).split("\n")) if (line !== "") this.take(line);
    this.at = Math.max(this.at, end);
    if (isEnd && this.report === null) throw new RequestError(0, null, pageMessages.files.connectionLost);
    return this.report as Report;
  }

  private take(line: string) {
    const value = tryParse(line) as Record<string, unknown> | null;
    if (value === null || "file" in value) return;
    if ("progress" in value) this.events.counted?.(value.progress as Counts);
    else if ("waits_for" in value) this.events.waitsFor?.(value.waits_for as Importer);
    else if ("rejected" in value) this.events.rejected?.(value.rejected as RejectedRow);
    else if ("problem" in value) {
      const status = (value.problem as { status?: number }).status ?? 500;
      throw requestError(status, value.problem);
    } else this.report = value as unknown as Report;
  }
}

/** The report of a rejected import. */
export function reportOf(error: unknown): Report | null {
  const problem = error instanceof RequestError ? (error.problem as { report?: Report } | null) : null;
  return problem?.report ?? null;
}
