import { expect, test } from "vitest";
import { LosslessNumber } from "../api/json";
import { isSame, isStoredAs, numberOf, textOf, withFinerDigits } from "./exact";

test.each(["0.1", "1.10", "12345678901234567890.123456789", "-0.5", "1e400", "7"])(
  "a typed number keeps every digit: %s",
  (text) => expect(textOf(numberOf(text))).toBe(text),
);

test.each([
  [" 1 234.5 ", "1234.5"],
  ["+3", "3"],
  ["007", "7"],
  [".5", "0.5"],
  ["-.5", "-0.5"],
  ["−4", "-4"],
])("%s is read as %s", (typed, number) => expect(textOf(numberOf(typed))).toBe(number));

test.each(["", "1,5", "12a", "1.", "--1", "0x10", "NaN", "Infinity"])("%s is not a number", (text) =>
  expect(numberOf(text)).toBeUndefined(),
);

test("absent and null values have no text", () => {
  expect([textOf(undefined), textOf(null)]).toEqual(["", ""]);
});

test("values are equal if all their digits are", () => {
  expect(isSame(1, new LosslessNumber("1.0"))).toBe(false);
  expect(isSame(new LosslessNumber("1.0"), new LosslessNumber("1.0"))).toBe(true);
  expect(isSame(["a"], ["a"])).toBe(true);
  expect(isSame(["a"], ["a", "b"])).toBe(false);
  expect(isSame(null, undefined)).toBe(false);
});

test("changing a time keeps its microseconds", () => {
  const before = "2026-01-31T12:00:00.590448Z";
  expect(withFinerDigits("2026-02-01T12:00:00.590Z", before)).toBe("2026-02-01T12:00:00.590448Z");
  expect(withFinerDigits("2026-01-31T12:00:01.590Z", before)).toBe("2026-01-31T12:00:01.590Z");
  expect(withFinerDigits("2026-02-01T12:00:00Z", "2026-01-31T12:00:00.000007Z")).toBe(
    "2026-02-01T12:00:00.000007Z",
  );
});

const number = (text: string) => new LosslessNumber(text);

test.each([
  ["Bern", "Bern"],
  [null, null],
  [
    ["a", "b"],
    ["a", "b"],
  ],
  [number("1.50"), number("1.5")],
  [number("0.0"), number("-0")],
  [number("120"), number("1.2e2")],
  [number("12345678901234567890.10"), number("12345678901234567890.1")],
  ["2024-01-01T01:00:00.120+01:00", "2024-01-01T00:00:00.12Z"],
  ["2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00Z"],
])("%j is kept as %j", (sent, kept) => expect(isStoredAs(sent, kept)).toBe(true));

test.each([
  ["Bern", "Basel"],
  ["1", number("1")],
  [null, ""],
  [["a"], ["a", "b"]],
  [number("1"), number("-1")],
  [number("12345678901234567890.1"), number("12345678901234567890.2")],
  ["2024-01-01T00:00:00.000001Z", "2024-01-01T00:00:00.000002Z"],
  ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00+01:00"],
])("%j is not kept as %j", (sent, kept) => expect(isStoredAs(sent, kept)).toBe(false));
