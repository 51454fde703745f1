/** The paths of an endpoint while they are edited. */
import type { Schemas } from "../api/client";

export type Endpoint = Schemas["Endpoint"];
type Mapping = NonNullable<Schemas["NewEndpoint"]["mapping"]>;

/** The path of an attribute's value. An empty path leaves the attribute unchanged. */
export type Source = { path: string; key_prefix: string };

export type Draft = {
  items: string;
  external_key: string;
  key_prefix: string;
  mapping: { [attribute: string]: Source };
};

export const NO_SOURCE: Source = { path: "", key_prefix: "" };

export function draftOf(
  endpoint: Pick<Endpoint, "items" | "external_key" | "key_prefix" | "mapping">,
): Draft {
  const sources = Object.entries(endpoint.mapping ?? {}).map(([attribute, source]) => [
    attribute,
    typeof source === "string" ? { path: source, key_prefix: "" } : { ...NO_SOURCE, ...source },
  ]);
  return {
    items: endpoint.items ?? "$",
    external_key: endpoint.external_key ?? "",
    key_prefix: endpoint.key_prefix ?? "",
    mapping: Object.fromEntries(sources),
  };
}

/** The request body. Attributes without a path are left out. */
export function membersOf(draft: Draft) {
  const sources = Object.entries(draft.mapping)
    .filter(([, { path }]) => path.trim() !== "")
    .map(([attribute, { path, key_prefix }]) => [
      attribute,
      key_prefix === "" ? path.trim() : { path: path.trim(), key_prefix },
    ]);
  return {
    items: draft.items.trim() === "" ? "$" : draft.items.trim(),
    external_key: draft.external_key.trim(),
    key_prefix: draft.key_prefix,
    mapping: Object.fromEntries(sources) as Mapping,
  };
}

/** Whether two drafts give the same request. */
export function isSame(one: Draft, other: Draft): boolean {
  const ordered = (draft: Draft) => {
    const members = membersOf(draft);
    const mapping = Object.entries(members.mapping).sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify({ ...members, mapping });
  };
  return ordered(one) === ordered(other);
}
