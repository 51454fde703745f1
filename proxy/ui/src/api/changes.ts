/**
 * The change feed of a template: one connection for all components of this tab that show its records.
 *
 * A tab that has been hidden for a while has no connection, because browsers allow only six connections per host over
 * HTTP/1.1, shared by all tabs. When the user returns, the tab reads the changes that it missed.
 */

import { readFromPrimary } from "../session/position";
import { inProject, type Schemas, send } from "./client";
import { EventReader, type StreamEvent } from "./eventStream";
import { pauseAfter } from "./pause";
import { RequestError, requestError } from "./problem";

export type Change = Schemas["Change"];

/** Milliseconds after which a hidden tab has no connection. */
const HIDDEN_TIMEOUT = 15_000;
/** Milliseconds without data after which a connection is closed. The service sends some every 15 seconds. */
const MAX_SILENCE = 40_000;
/** Consecutive failures that indicate a permanent cause, such as a dropped template. */
const MAX_FAILURES = 6;

let connections = 0;
const listeners = new Set<(changes: readonly Change[]) => void>();

type Follower = {
  onChanges: (changes: Change[]) => void;
  /** Only later changes follow. `isGap`: the service no longer stores the earlier ones. */
  onStart: (isGap: boolean) => void;
};

/** Follows the feed until the signal aborts. */
export async function follow(
  project: string,
  template: string,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | null = null;
  let isGap = false;
  let failures = 0;
  while (!signal.aborted) {
    await untilVisible(signal);
    const reader = new EventReader();
    reader.id = cursor;
    try {
      await connect(project, template, reader, isGap, follower, signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const status = error instanceof RequestError ? error.status : 0;
      failures = reader.retry === null ? failures + 1 : 0;
      isGap = status === 410;
      if (isGap) reader.id = null;
      else if ([403, 404, 422].includes(status)) failures = MAX_FAILURES;
    }
    cursor = reader.id;
    if (!signal.aborted) await pause(pauseAfter(failures, reader.retry, Math.random()), signal);
  }
}

/** Reads one response until it ends, fails or times out. @throws RequestError */
async function connect(
  project: string,
  template: string,
  reader: EventReader,
  isGap: boolean,
  { onChanges, onStart }: Follower,
  signal: AbortSignal,
): Promise<void> {
  const life = new ConnectionLifetime(signal);
  const isNew = reader.id === null;
  const path = `/v1/changes?${new URLSearchParams({ template })}`;
  const headers = new Headers({ ...inProject(project), accept: "text/event-stream" });
  if (reader.id !== null) headers.set("last-event-id", reader.id);
  try {
    const response = await send(new Request(path, { headers, signal: life.signal, cache: "no-store" }));
    if (!response.ok) throw requestError(response.status, await response.json().catch(() => null));
    if (response.body === null) return;
    if (isNew) onStart(isGap);
    connections += 1;
    try {
      const parts = response.body.pipeThrough(new TextDecoderStream()).getReader();
      life.prolong();
      for (let part = await parts.read(); !part.done; part = await parts.read()) {
        life.prolong();
        deliver(reader.push(part.value), onChanges);
      }
    } finally {
      connections -= 1;
    }
  } finally {
    life.end();
  }
}

/** Delivers changes in batches as they arrive. @throws RequestError if the service reports why the stream ends. */
function deliver(events: readonly StreamEvent[], onChanges: Follower["onChanges"]) {
  const error = events.find(({ type }) => type === "error");
  const changes = events.filter((event) => event !== error).map(({ data }): Change => JSON.parse(data));
  if (changes.length > 0) {
    readFromPrimary();
    for (const listener of listeners) listener(changes);
    onChanges(changes);
  }
  if (error === undefined) return;
  const problem = JSON.parse(error.data);
  throw requestError(problem.status, problem);
}

/** Limits how long a connection lives: while the service sends data and the user is active. */
class ConnectionLifetime {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  private silence = 0;
  private hidden = 0;

  constructor(private readonly outer: AbortSignal) {
    outer.addEventListener("abort", this.stop);
    document.addEventListener("visibilitychange", this.look);
    this.look();
  }

  /** The service has sent data. */
  prolong() {
    window.clearTimeout(this.silence);
    this.silence = window.setTimeout(this.stop, MAX_SILENCE);
  }

  private readonly look = () => {
    window.clearTimeout(this.hidden);
    if (document.hidden) this.hidden = window.setTimeout(this.stop, HIDDEN_TIMEOUT);
  };

  private readonly stop = () => this.controller.abort();

  end() {
    this.stop();
    this.outer.removeEventListener("abort", this.stop);
    document.removeEventListener("visibilitychange", this.look);
    window.clearTimeout(this.silence);
    window.clearTimeout(this.hidden);
  }
}

/** Waits for an event or until a timeout. */
function wait(target: EventTarget, event: string, signal: AbortSignal, milliseconds?: number): Promise<void> {
  return new Promise((resolve) => {
    const ended = new AbortController();
    const end = () => {
      ended.abort();
      window.clearTimeout(timer);
      resolve();
    };
    const timer = milliseconds === undefined ? undefined : window.setTimeout(end, milliseconds);
    const until = { signal: ended.signal };
    target.addEventListener(event, end, until);
    signal.addEventListener("abort", end, until);
  });
}

async function untilVisible(signal: AbortSignal) {
  while (document.hidden && !signal.aborted) await wait(document, "visibilitychange", signal);
}

/** A pause that ends early when the network is available again or the user returns. */
async function pause(milliseconds: number, signal: AbortSignal) {
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  await Promise.race([
    wait(window, "online", until, milliseconds),
    wait(document, "visibilitychange", until),
  ]);
  ended.abort();
}

/** Whether the feed is connected, so polling is not needed. */
export const isFollowing = (): boolean => connections > 0;

/** Calls `heard` for each change of this record until the returned function is called. */
export function onChangeOf(id: string, onChange: () => void): () => void {
  const listener = (changes: readonly Change[]) => {
    if (changes.some((change) => change.id === id)) onChange();
  };
  listeners.add(listener);
  return () => listeners.delete(listener);
}
