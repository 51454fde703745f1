import { beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem() {}, removeItem() {} });
vi.stubGlobal("localStorage", { getItem: () => null, setItem() {}, removeItem() {} });
vi.stubGlobal("window", globalThis);
vi.mock("wouter/use-browser-location", () => ({ navigate() {} }));
/** A browser resolves an address without a host against the page. */
vi.stubGlobal(
  "Request",
  class extends Request {
    constructor(address: string | Request, init?: RequestInit) {
      super(typeof address === "string" ? new URL(address, "http://keyed.test") : address, init);
    }
  },
);
const requests: [method: string, path: string, key: string | null][] = [];
vi.stubGlobal("fetch", async ({ method, url, headers }: Request) => {
  requests.push([method, new URL(url).pathname, headers.get("authorization")]);
  return new Response(null, { status: 204 });
});
const { currentSession, seeAs, signIn } = await import("../session/session");
const { endSession, returnToMyself } = await import("./session");

/** Far longer than any test takes, so that no test fails on a slow machine. */
const TIMEOUT = { timeout: 30_000 };
const revocation = ["DELETE", "/v1/api-keys/7", "Bearer keyed_1_own"];

beforeEach(() => {
  requests.length = 0;
  signIn("keyed_1_own");
});

test("sign-out revokes the key of the viewed role", async () => {
  seeAs("sales", "keyed_7_role");
  endSession();
  expect(currentSession().key).toBeNull();
  await vi.waitFor(() => expect(requests).toEqual([revocation]), TIMEOUT);
});

test("key of a viewed role is revoked afterwards", async () => {
  seeAs("sales", "keyed_7_role");
  returnToMyself();
  expect(currentSession().key).toBe("keyed_1_own");
  await vi.waitFor(() => expect(requests).toEqual([revocation]), TIMEOUT);
});

test("own key stays valid after the user signs out", async () => {
  endSession();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(requests).toEqual([]);
});
