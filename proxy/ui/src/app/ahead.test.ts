import { expect, test, vi } from "vitest";
import { renderJson } from "../api/json";
import type { Attribute, Template } from "../api/queries";

const kept = new Map<string, string>();
vi.stubGlobal("localStorage", { getItem: (name: string) => kept.get(name) ?? null });
const { firstRequests } = await import("./ahead");
const { decodeState } = await import("../list/address");
const { neededFields, shownColumns } = await import("../list/columns");
const { listBody, pageBody } = await import("../list/state");

const sent = (path: string, query = "", key: string | null = "key") =>
  [...firstRequests(path, query, key)].map((it) => [
    it.path,
    ...(it.body === undefined ? [] : [JSON.parse(it.body)]),
  ]);
const page = { verbose: true, limit: 50 };

test("a list begins with the templates, the rights and its first page", () => {
  expect(sent("/p/crm/t/customers")).toEqual([
    ["/v1/templates"],
    ["/v1/me"],
    ["/v1/entities/search/customers", page],
  ]);
});

test("the first page is that of the address alone", () => {
  const search = (query: string) => sent("/p/crm/t/customers/r/1", query).at(-1)?.[1];
  expect(search("q=river&s=-price&c=name.240,city")).toEqual({
    ...page,
    global_search: "river",
    sort: "-price",
    fields: ["city", "name"],
  });
  kept.set("keyed.list.crm.customers", "s=price");
  expect(search("")).toEqual(page);
  kept.clear();
});

test("the list sends the very request that was sent ahead", () => {
  const attribute = (slug: string): Attribute => ({
    ...{ id: slug, slug, type: "string", label: null, required: false, indexed: false },
  });
  const attributes = ["city", "name", "phone"].map(attribute);
  const common = { label: null, project: "crm", language: "english", created_at: "", updated_at: "" };
  const template: Template = { id: "1", slug: "customers", display: "name", attributes, ...common };
  for (const query of ["", "c=name.240,city", "q=river&s=-price&c=name,city"]) {
    const state = decodeState(query);
    const fields = neededFields(template, shownColumns(template, state.columns));
    const ahead = [...firstRequests("/p/crm/t/customers", query, "key")].at(-1)?.body;
    expect(ahead).toBe(renderJson(pageBody(listBody(state, fields), false, null)));
  }
});

test("what is searched by meaning, or opened by a saved view, waits for the page", () => {
  for (const query of ["q=river&m=meaning", "view=mine"])
    expect(sent("/p/crm/t/customers", query)).toEqual([["/v1/templates"], ["/v1/me"]]);
});

test("nothing is asked for without a key or a project", () => {
  expect(sent("/p/crm/t/customers", "", null)).toEqual([]);
  expect(sent("/")).toEqual([]);
  expect(sent("/p/crm/access")).toEqual([["/v1/templates"], ["/v1/me"]]);
});
