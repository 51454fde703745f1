import { expect, test } from "vitest";
import { reasonText } from "./reason";

test("message is extracted from a provider's response", () => {
  expect(reasonText('HTTP 400: {"error":{"message":"the input is too long"}}')).toBe(
    "The input is too long (HTTP 400).",
  );
  expect(reasonText('HTTP 429: {"error":"slow down."}')).toBe("Slow down (HTTP 429).");
  expect(reasonText('HTTP 500: {"message":"out of memory"}')).toBe("Out of memory (HTTP 500).");
});

test("other text is unchanged", () => {
  expect(reasonText("connection rejected")).toBe("Connection rejected.");
  expect(reasonText('HTTP 400: {"code":3}')).toBe('HTTP 400: {"code":3}');
  expect(reasonText('HTTP 400: {"error":')).toBe('HTTP 400: {"error":');
});
