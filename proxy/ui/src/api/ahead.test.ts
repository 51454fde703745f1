import { beforeEach, expect, test, vi } from "vitest";
import { sendAhead, takeAhead } from "./ahead";

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
  await takeAhead(request());
  service.mockReset();
  service.mockImplementation(async () => new Response("found"));
});

test("who asks what was asked ahead gets that answer, once", async () => {
  sendAhead(sent);
  expect(await (await takeAhead(request()))?.text()).toBe("found");
  expect(await takeAhead(request())).toBeNull();
  expect(service).toHaveBeenCalledTimes(1);
});

test("another key, project or body has no part in it, and ends it", async () => {
  for (const other of [{ key: "other" }, { project: "shop" }, { body: "{}" }]) {
    sendAhead(sent);
    expect(await takeAhead(request(other))).toBeNull();
    expect(isAborted()).toBe(true);
  }
});

test("another address leaves it to who asks for it", async () => {
  sendAhead(sent);
  expect(await takeAhead(new Request("http://keyed.test/v1/me"))).toBeNull();
  expect(isAborted()).toBe(false);
  expect(await takeAhead(request())).not.toBeNull();
});

test("it ends with the request that took it", async () => {
  const taker = new AbortController();
  sendAhead(sent);
  await takeAhead(request({ signal: taker.signal }));
  expect(isAborted()).toBe(false);
  taker.abort();
  expect(isAborted()).toBe(true);
});

test("old response is discarded", async () => {
  vi.useFakeTimers();
  sendAhead(sent);
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  expect(isAborted()).toBe(true);
  expect(await takeAhead(request())).toBeNull();
});
