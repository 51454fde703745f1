import { expect, test } from "vitest";
import { parseJson } from "../api/json";
import { readSample, rejectedItems, rejectionAt, shownValue } from "./trial";

const error = {
  errors: [
    { pointer: "/items/3/attributes/tags/0", detail: "is no option" },
    { pointer: "/items/1/attributes/total", detail: "must be a number" },
    { pointer: "/items/1/external_key", detail: "finds nothing" },
    { pointer: "/items", detail: "of all" },
  ],
};

test("error is shown next to its value", () => {
  expect(rejectionAt(error, 1, "attributes/total")).toBe("must be a number");
  expect(rejectionAt(error, 3, "attributes/tags")).toBe("is no option");
  expect(rejectionAt(error, 0, "attributes/total")).toBeUndefined();
  expect(rejectionAt(error, 1, "attributes/tot")).toBeUndefined();
});

test("rejected items are counted once, in order", () => {
  expect(rejectedItems(error)).toEqual([1, 3]);
  expect(rejectedItems(null)).toEqual([]);
});

test("values keep every digit, and references show the key of their target", () => {
  expect(shownValue(parseJson("12345678901234567890.50"))).toBe("12345678901234567890.50");
  expect(shownValue(["web", "shop"])).toBe("web, shop");
  expect(shownValue({ external_key: "a:1" })).toBe("a:1");
});

test("empty sample is valid, malformed one is not", () => {
  expect(readSample(" ")).toEqual({});
  expect(readSample("{").error).toBeTypeOf("string");
});
