/**
 * The feed of changes of a template: one connection for all that shows its records in this tab.
 *
 * A tab that is not looked at for a while has no connection, because browsers allow six to a host over HTTP/1.1, for all
 * tabs together. When the user comes back, it reads what it has missed.
 */
import { inProject, type Schemas, send } from "./client";
import { EventReader, type StreamEvent } from "./eventStream";
import { pauseAfter } from "./pause";
import { readFromPrimary } from "./position";
import { RequestError, requestError } from "./problem";

export type Change = Schemas["Change"];

/** Milliseconds after which a hidden tab has no connection. */
const HIDDEN = 15_000;
/** Milliseconds after which a connection without a sign of life is given up. The service sends one every 15 seconds. */
const SILENCE = 40_000;
/** Failures in a row after which the reason is one that does not pass soon, such as a template that was dropped. */
const HOPELESS = 6;

let connections = 0;
const listeners = new Set<(changes: readonly Change[]) => void>();

type Follower = {
  onChanges: (changes: Change[]) => void;
  /** Only changes from now on follow. `isGap`: the service no longer knows what changed before. */
  onStart: (isGap: boolean) => void;
};

/** The feed, until the signal. */
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
      else if ([403, 404, 422].includes(status)) failures = HOPELESS;
    }
    cursor = reader.id;
    if (!signal.aborted) await pause(pauseAfter(failures, reader.retry, Math.random()), signal);
  }
}

/** Reads one response, until it ends, fails or is given up. @throws RequestError */
async function connect(
  project: string,
  template: string,
  reader: EventReader,
  isGap: boolean,
  { onChanges, onStart }: Follower,
  signal: AbortSignal,
): Promise<void> {
  const life = new Life(signal);
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
        hand(reader.push(part.value), onChanges);
      }
    } finally {
      connections -= 1;
    }
  } finally {
    life.end();
  }
}

/** Hands the changes on that came together. @throws RequestError if the service says why the stream ends. */
function hand(events: readonly StreamEvent[], onChanges: Follower["onChanges"]) {
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

/** How long a connection may be used: while there are signs of life from the service, and from the user. */
class Life {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  private silence = 0;
  private hidden = 0;

  constructor(private readonly outer: AbortSignal) {
    outer.addEventListener("abort", this.stop);
    document.addEventListener("visibilitychange", this.look);
    this.look();
  }

  /** The service has sent something. */
  prolong() {
    window.clearTimeout(this.silence);
    this.silence = window.setTimeout(this.stop, SILENCE);
  }

  private readonly look = () => {
    window.clearTimeout(this.hidden);
    if (document.hidden) this.hidden = window.setTimeout(this.stop, HIDDEN);
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

/** Waits for an event, or for so long. */
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

/** A pause, which ends when the network is there again or the user comes back. */
async function pause(milliseconds: number, signal: AbortSignal) {
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  await Promise.race([
    wait(window, "online", until, milliseconds),
    wait(document, "visibilitychange", until),
  ]);
  ended.abort();
}

/** Whether changes arrive, so that nothing has to be asked for again and again. */
export const isFollowing = (): boolean => connections > 0;

/** Calls `heard` whenever a change of this record arrives, until the returned function is called. */
export function onChangeOf(id: string, heard: () => void): () => void {
  const listener = (changes: readonly Change[]) => {
    if (changes.some((change) => change.id === id)) heard();
  };
  listeners.add(listener);
  return () => listeners.delete(listener);
}
