import { beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem() {}, removeItem() {} });
const { currentSession, signIn, signOut } = await import("../session/session");
const { send } = await import("./client");

const service = vi.fn<(request: Request) => Promise<Response>>();
vi.stubGlobal("fetch", service);
/** Accepts one key, and says what it was asked for with it. */
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

test("a request whose key is refused is sent again, with its body, once another key is given", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const answered = send(request(json));
  await settled();
  expect(currentSession().refused).toBe(true);
  signIn("second");
  expect(await (await answered).text()).toBe('{"a":1}');
  expect(service).toHaveBeenCalledTimes(2);
});

test("a request whose key is refused is answered so when the session ends", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const answered = send(request(json));
  await settled();
  signOut();
  expect((await answered).status).toBe(401);
});

test("a file is not kept in memory to be sent again", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const answered = await send(request({ headers: { "content-type": "text/csv" }, body: "a,b" }));
  expect(answered.status).toBe(401);
});

test("a key that a request brings itself says nothing about the session", async () => {
  service.mockImplementation(accepts("second"));
  signIn("first");
  const answered = await send(request({ headers: { authorization: "Bearer other" } }));
  expect(answered.status).toBe(401);
  expect(currentSession().refused).toBe(false);
});

test("a gateway without a service behind it is as if the service could not be reached", async () => {
  service.mockResolvedValue(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  await expect(send(request())).rejects.toMatchObject({ isOffline: true });
  service.mockResolvedValue(
    new Response("{}", { status: 503, headers: { "content-type": "application/problem+json" } }),
  );
  expect((await send(request())).status).toBe(503);
});

test("a request says that a person makes it in the application", async () => {
  service.mockImplementation(async () => new Response("{}"));
  signIn("first");
  await send(request(json));
  expect(service.mock.calls[0]?.[0].headers.get("x-keyed-source")).toBe("app");
});
