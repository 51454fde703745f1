import { expect, test } from "vitest";
import { requestError } from "../api/problem";
import { errorAt, errorOf, keyError } from "./errors";

const rejected = requestError(422, {
  code: "invalid_value",
  detail: "/attributes/tags/0: must be a string (the first of 2 errors)",
  errors: [
    { pointer: "/attributes/tags/0", code: "invalid_value", detail: "must be a string" },
    { pointer: "/external_key", code: "invalid_external_key", detail: "external_key must not be empty" },
  ],
});

test("error is shown at the field of its pointer", () => {
  expect(errorAt(rejected, "tags")).toBe("Must be a string.");
  expect(keyError(rejected)).toBe("The external key must not be empty.");
});

test("field whose slug has the same prefix is not affected", () => {
  expect(errorAt(rejected, "tag")).toBeUndefined();
});

test("field sent alone shows an error without a pointer", () => {
  expect(errorOf(requestError(403, { code: "forbidden", detail: "not allowed" }), "tags")).toBe(
    "Not allowed.",
  );
  expect(errorOf(new Error("The service cannot be reached."), "tags")).toBe("The service cannot be reached.");
});
