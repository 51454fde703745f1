import { expect, test } from "vitest";
import { reasonInWords } from "./reason";

test("of a provider's answer, its sentence is shown", () => {
  expect(reasonInWords('HTTP 400: {"error":{"message":"the input is too long"}}')).toBe(
    "The input is too long (HTTP 400).",
  );
  expect(reasonInWords('HTTP 429: {"error":"slow down."}')).toBe("Slow down (HTTP 429).");
  expect(reasonInWords('HTTP 500: {"message":"out of memory"}')).toBe("Out of memory (HTTP 500).");
});

test("other text stays as it is", () => {
  expect(reasonInWords("connection rejected")).toBe("Connection rejected.");
  expect(reasonInWords('HTTP 400: {"code":3}')).toBe('HTTP 400: {"code":3}');
  expect(reasonInWords('HTTP 400: {"error":')).toBe('HTTP 400: {"error":');
});
