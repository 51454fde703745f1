import { beforeEach, expect, test, vi } from "vitest";
import { preload, takePreloaded } from "./preload";

const service = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
vi.stubGlobal("fetch", service);
const sent = {
  method: "POST",
  path: "/v1/search/a",
  project: "crm",
  key: "mine",
  body: '{"limit":50}',
} as const;
const request = ({
  key = "mine",
  project = "crm",
  body = sent.body as string,
  signal = null as AbortSignal | null,
} = {}) =>
  new Request("http://keyed.test/v1/search/a", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "x-service-project-id": project },
    body,
    signal,
  });
const isAborted = () => service.mock.lastCall?.[1].signal?.aborted;

beforeEach(async () => {
  await takePreloaded(request());
  service.mockReset();
  service.mockImplementation(async () => new Response("found"));
});

test("preloaded response is used once", async () => {
  preload(sent);
  expect(await (await takePreloaded(request()))?.text()).toBe("found");
  expect(await takePreloaded(request())).toBeNull();
  expect(service).toHaveBeenCalledTimes(1);
});

test("request with another key, project or body aborts the preloaded one", async () => {
  for (const other of [{ key: "other" }, { project: "shop" }, { body: "{}" }]) {
    preload(sent);
    expect(await takePreloaded(request(other))).toBeNull();
    expect(isAborted()).toBe(true);
  }
});

test("request to another address does not abort the preloaded one", async () => {
  preload(sent);
  expect(await takePreloaded(new Request("http://keyed.test/v1/me"))).toBeNull();
  expect(isAborted()).toBe(false);
  expect(await takePreloaded(request())).not.toBeNull();
});

test("aborting a request aborts the preloaded one that it uses", async () => {
  const taker = new AbortController();
  preload(sent);
  await takePreloaded(request({ signal: taker.signal }));
  expect(isAborted()).toBe(false);
  taker.abort();
  expect(isAborted()).toBe(true);
});

test("old response is discarded", async () => {
  vi.useFakeTimers();
  preload(sent);
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  expect(isAborted()).toBe(true);
  expect(await takePreloaded(request())).toBeNull();
});
