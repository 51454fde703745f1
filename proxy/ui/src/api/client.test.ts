import { beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem() {}, removeItem() {} });
const { currentSession, signIn, signOut } = await import("../session/session");
const { send } = await import("./client");

const service = vi.fn<(request: Request) => Promise<Response>>();
vi.stubGlobal("fetch", service);
/** A service that accepts one key and records the requests made with it. */
const accepts = (key: string) => async (request: Request) =>
  request.headers.get("authorization") === `Bearer ${key}`
    ? new Response(await request.text())
    : new Response(null, { status: 401 });
const request = (init?: RequestInit) => new Request("http://keyed.test/v1/x", { method: "POST", ...init });
const json = { headers: { "content-type": "application/json" }, body: '{"a":1}' };
const settled = () => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  signOut();
  service.mockReset();
});

test("request with a rejected key is sent again with another key", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const response = send(request(json));
  await settled();
  expect(currentSession().rejected).toBe(true);
  signIn("second");
  expect(await (await response).text()).toBe('{"a":1}');
  expect(service).toHaveBeenCalledTimes(2);
});

test("request with a rejected key fails when the session ends", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const response = send(request(json));
  await settled();
  signOut();
  expect((await response).status).toBe(401);
});

test("file is not buffered for a second attempt", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const response = await send(request({ headers: { "content-type": "text/csv" }, body: "a,b" }));
  expect(response.status).toBe(401);
});

test("key of a single request does not affect the session", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const response = await send(request({ headers: { authorization: "Bearer other" } }));
  expect(response.status).toBe(401);
  expect(currentSession().rejected).toBe(false);
});

test("gateway error means that the service is unreachable", async () => {
  service.mockResolvedValue(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  await expect(send(request())).rejects.toMatchObject({ isOffline: true });
  service.mockResolvedValue(
    new Response("{}", { status: 503, headers: { "content-type": "application/problem+json" } }),
  );
  expect((await send(request())).status).toBe(503);
});

test("request specifies the source app", async () => {
  service.mockImplementation(async () => new Response("{}"));
  signIn("first");
  await send(request(json));
  expect(service.mock.calls[0]?.[0].headers.get("x-keyed-source")).toBe("app");
});
