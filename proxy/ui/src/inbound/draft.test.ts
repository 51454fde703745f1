import { expect, test } from "vitest";
import { draftOf, isSame, membersOf } from "./draft";

const endpoint = {
  items: "$.orders[*]",
  external_key: "$.id",
  key_prefix: "",
  mapping: { title: "$.title", artist: { path: "$.artist", key_prefix: "a:" } as never },
};

test("an endpoint that is not edited is sent as it was read", () => {
  expect(membersOf(draftOf(endpoint))).toEqual(endpoint);
});

test("an attribute without a path is not mapped, and empty items are the payload", () => {
  const draft = draftOf({ ...endpoint, items: " " });
  draft.mapping.title = { path: " ", key_prefix: "" };
  expect(membersOf(draft)).toMatchObject({ items: "$", mapping: { artist: { path: "$.artist" } } });
});

test("the order of attributes is no change, another path is", () => {
  const { title, ...rest } = endpoint.mapping;
  const turned = draftOf({ ...endpoint, mapping: { ...rest, title } });
  expect(isSame(draftOf(endpoint), turned)).toBe(true);
  turned.mapping.title = { path: "$.name", key_prefix: "" };
  expect(isSame(draftOf(endpoint), turned)).toBe(false);
});
