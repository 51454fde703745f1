import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { parseJson } from "../api/json";
import type { ApiRequest } from "./request";
import { type Language, snippet } from "./snippets";

const base = "http://keyed.test";
const search: ApiRequest = {
  method: "POST",
  path: "/v1/entities/search/customers",
  project: "shop",
  body: { filters: [{ field: "city", operator: "in", value: ["Bern", "O'Brien $HOME `id`"] }], limit: 50 },
};
const code = (language: Language, request: ApiRequest, key?: string) =>
  snippet(language, request, key === undefined ? { base } : { base, key }) ?? "";

test("snippets contain the key only on request", () => {
  for (const language of ["curl", "python", "javascript"] as const) {
    expect(code(language, search)).toContain("KEYED_API_KEY");
    expect(code(language, search)).not.toContain("keyed_7_secret");
    expect(code(language, search, "keyed_7_secret")).toContain("keyed_7_secret");
  }
});

test("shell passes the body of curl unchanged", () => {
  const command = code("curl", search).replace(/^curl/, "printf '%s\\n'");
  const words = execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" });
  expect(parseJson(words.slice(words.indexOf("-d\n") + 3))).toEqual(search.body);
});

test("text that begins with @ is sent as text, not as a file", () => {
  const text = { type: "text/csv", content: "@/etc/hostname\nit's" };
  const command = code("curl", { method: "POST", path: "/v1/x", text }).replace(/^curl/, "printf '%s\\n'");
  const words = execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" });
  expect(words.endsWith(`--data-raw\n${text.content}\n`)).toBe(true);
});

test("JavaScript code sends a member named __proto__", () => {
  const body = parseJson('{"__proto__": {"a": 1}, "b": 2}');
  const text = code("javascript", { ...search, body });
  const [, sent] = /JSON\.stringify\((.*)\),$/m.exec(text) ?? [];
  expect(new Function(`return JSON.stringify(${sent})`)()).toBe('{"__proto__":{"a":1},"b":2}');
});

test("JavaScript code sends the method, headers and body", async () => {
  let sent: [string, RequestInit] | undefined;
  const fetch = async (...call: [string, RequestInit]) => {
    sent = call;
    return { ok: true, json: async () => ({}) };
  };
  const run = new Function(
    "fetch",
    "process",
    "console",
    `return (async () => {${code("javascript", search)}})()`,
  );
  await run(fetch, { env: { KEYED_API_KEY: "k" } }, { log() {} });
  expect(sent?.[0]).toBe("http://keyed.test/v1/entities/search/customers");
  expect(sent?.[1].method).toBe("POST");
  expect(sent?.[1].headers).toEqual({
    Authorization: "Bearer k",
    "X-Service-Project-Id": "shop",
    "Content-Type": "application/json",
  });
  expect(JSON.parse(String(sent?.[1].body))).toEqual(search.body);
});

test("Python code contains None, True and False", () => {
  const text = code("python", { ...search, body: { a: null, b: true, c: false } });
  expect(text).toContain('json={ "a": None, "b": True, "c": False }');
});

test("numbers keep every digit in every language", () => {
  const body = parseJson('{"amount": 12345678901234567890.10, "n": 12345678901234567890}');
  for (const language of ["curl", "python", "javascript"] as const) {
    const text = code(language, { ...search, body });
    expect(text).toContain("12345678901234567890.10");
    expect(text).not.toContain("JSON.stringify");
    expect(text).not.toContain("json=");
  }
});

test("invisible characters are escaped", () => {
  const text = code("curl", { ...search, body: { name: "a\u202eb\u200b" } });
  expect(text).toContain("a\\u202eb\\u200b");
});

test("quote in a value is escaped in SQL", () => {
  const body = { global_search: "O'Brien'; drop" };
  expect(code("sql", { ...search, body })).toBe(
    `select keyed.search('shop.customers', '{ "global_search": "O''Brien''; drop" }');`,
  );
});

test("record requests have an equivalent SQL statement", () => {
  const record = "/v1/entities/01931f3e";
  expect(code("sql", { method: "GET", path: record })).toBe("select keyed.get_record('01931f3e');");
  expect(code("sql", { method: "PATCH", path: record, body: { attributes: { a: null } } })).toBe(
    `select keyed.patch_record('01931f3e', '{ "attributes": { "a": null } }');`,
  );
  const byKey = { path: "/v1/entities/template/customers/by-key", project: "shop" };
  expect(code("sql", { method: "GET", ...byKey, query: { key: "erp:1" } })).toBe(
    "select keyed.get_by_key('shop.customers', 'erp:1');",
  );
  expect(
    code("sql", { method: "PUT", ...byKey, body: { external_key: "erp:1", attributes: { a: 1 } } }),
  ).toBe(`select * from keyed.upsert_by_key('shop.customers', 'erp:1', '{ "a": 1 }');`);
});

test("request without an SQL equivalent has no statement", () => {
  expect(snippet("sql", { ...search, body: { query_text: "near" } }, { base })).toBeNull();
  expect(snippet("sql", { method: "GET", path: "/v1/templates" }, { base })).toBeNull();
});

test("curl command specifies the method only if needed", () => {
  expect(code("curl", { method: "GET", path: "/v1/me" })).not.toContain("-X");
  expect(code("curl", { method: "POST", path: "/v1/x" })).toContain("-X POST");
  expect(code("curl", search)).not.toContain("-X");
});
