import { expect, test } from "vitest";
import { draftOf, isSame, membersOf } from "./draft";

const endpoint = {
  items: "$.orders[*]",
  external_key: "$.id",
  key_prefix: "",
  mapping: { title: "$.title", artist: { path: "$.artist", key_prefix: "a:" } as never },
};

test("unedited endpoint is sent as loaded", () => {
  expect(membersOf(draftOf(endpoint))).toEqual(endpoint);
});

test("attribute without a path is not mapped, and an empty items path is the payload", () => {
  const draft = draftOf({ ...endpoint, items: " " });
  draft.mapping.title = { path: " ", key_prefix: "" };
  expect(membersOf(draft)).toMatchObject({ items: "$", mapping: { artist: { path: "$.artist" } } });
});

test("changed path is a change, changed order of attributes is not", () => {
  const { title, ...rest } = endpoint.mapping;
  const turned = draftOf({ ...endpoint, mapping: { ...rest, title } });
  expect(isSame(draftOf(endpoint), turned)).toBe(true);
  turned.mapping.title = { path: "$.name", key_prefix: "" };
  expect(isSame(draftOf(endpoint), turned)).toBe(false);
});
