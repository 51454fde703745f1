import { beforeEach, expect, test, vi } from "vitest";

const stored = new Map<string, string>();
const storage = {
  getItem: (name: string) => stored.get(name) ?? null,
  setItem: (name: string, value: string) => stored.set(name, value),
  removeItem: (name: string) => stored.delete(name),
};
vi.stubGlobal("localStorage", storage);
vi.stubGlobal("sessionStorage", storage);
/** A browser resolves an address without a host against the page. */
vi.stubGlobal(
  "Request",
  class extends Request {
    constructor(address: string | Request, init?: RequestInit) {
      super(typeof address === "string" ? new URL(address, "http://keyed.test") : address, init);
    }
  },
);
const requests: string[] = [];
const template = {
  id: "1",
  slug: "customers",
  display: "name",
  attributes: [{ slug: "name" }, { slug: "city" }],
};
vi.stubGlobal("fetch", async (target: string | Request, init?: RequestInit) => {
  const path = typeof target === "string" ? target : new URL(target.url).pathname;
  requests.push(`${typeof target === "string" ? init?.method : target.method} ${path}`);
  return Response.json({ templates: [template], records: [], has_more: false });
});
const { queryClient } = await import("../api/queries");
const { signIn } = await import("../session/session");
const { prefetchPage } = await import("./prefetch");
const { firstRequests, preloadPage } = await import("./preload");

const sent = (path: string, query = "", key: string | null = "key") =>
  [...firstRequests(path, query, key)].map((it) => [
    it.path,
    ...(it.body === undefined ? [] : [JSON.parse(it.body)]),
  ]);
const page = { verbose: true, limit: 50 };

beforeEach(() => {
  stored.clear();
  queryClient.clear();
  requests.length = 0;
});

test("list preloads its templates, privileges and first page", () => {
  expect(sent("/p/crm/t/customers")).toEqual([
    ["/v1/templates"],
    ["/v1/me"],
    ["/v1/entities/search/customers", page],
  ]);
});

test("only the address determines the first page", () => {
  const search = (query: string) => sent("/p/crm/t/customers/r/1", query).at(-1)?.[1];
  expect(search("q=river&s=-price&c=name.240,city")).toEqual({
    ...page,
    global_search: "river",
    sort: "-price",
    fields: ["city", "name"],
  });
  stored.set("keyed.list.crm.customers", "s=price");
  expect(search("")).toEqual(page);
});

test("search by meaning and saved view are not preloaded", () => {
  for (const query of ["q=river&m=meaning", "view=mine"])
    expect(sent("/p/crm/t/customers", query)).toEqual([["/v1/templates"], ["/v1/me"]]);
});

test("page without key or project preloads nothing", () => {
  expect(sent("/p/crm/t/customers", "", null)).toEqual([]);
  expect(sent("/")).toEqual([]);
  expect(sent("/p/crm/access")).toEqual([["/v1/templates"], ["/v1/me"]]);
});

test.each(["", "?q=river&s=-name", "?view=mine&q=river", "?c=name"])(
  "page at %j sends no preloaded request again",
  async (search) => {
    signIn("key");
    vi.stubGlobal("location", { pathname: "/p/crm/t/customers", search });
    preloadPage("key");
    await prefetchPage();
    expect(requests).toEqual(["GET /v1/templates", "GET /v1/me", "POST /v1/entities/search/customers"]);
  },
);
