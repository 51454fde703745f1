import { beforeEach, expect, test } from "vitest";
import { askForFreshness, forgetPosition, learnPosition, readFromPrimary } from "./position";

const learn = (position: string) =>
  learnPosition(new Response(null, { headers: { "x-keyed-position": position } }));
const asked = () => {
  const headers = new Headers();
  askForFreshness(headers);
  return [headers.get("x-keyed-position"), headers.get("x-keyed-read")];
};

beforeEach(forgetPosition);

test("page without writes accepts any server", () => {
  learnPosition(new Response(null));
  expect(asked()).toEqual([null, null]);
});

test("newest position is sent with reads", () => {
  learn("0/FF");
  learn("1/0");
  learn("0/FFFFFFFF");
  learn("rubbish");
  expect(asked()).toEqual(["1/0", null]);
});

test("change without a position is read from the primary", () => {
  readFromPrimary();
  expect(asked()).toEqual([null, "primary"]);
});
