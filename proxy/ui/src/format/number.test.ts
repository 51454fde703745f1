import { expect, test } from "vitest";
import { exact } from "../api/json";
import { numberText } from "./number";

const english = (text: string) => numberText(exact(text), "en-US");

test("numbers are grouped as the reader groups them", () => {
  expect(english("1234567")).toBe("1,234,567");
  expect(numberText(exact("1234567.5"), "de-DE")).toBe("1.234.567,5");
  expect(numberText(exact("1234567"), "hi-IN")).toBe("12,34,567");
});

test("no digit is lost", () => {
  expect(english("12345678901234567890123456789.123456789012345678901")).toBe(
    "12,345,678,901,234,567,890,123,456,789.123456789012345678901",
  );
});

test("zeros that say a precision stay, those of a long fraction go", () => {
  expect(english("1.50")).toBe("1.50");
  expect(english("1.0")).toBe("1.0");
  expect(english("4948.8100000000000000")).toBe("4,948.81");
  expect(english("4948.8000")).toBe("4,948.80");
  expect(english("5028.0000000000000000")).toBe("5,028");
});

test("an exponent that would fill the memory stays", () => {
  for (const text of ["1e999999999", "-1.5e-400000000", "1e1001"]) expect(english(text)).toBe(text);
  expect(english("1e1000")).toHaveLength(1001 + 333);
});

test("exponents are written out", () => {
  expect(english("1e+21")).toBe("1,000,000,000,000,000,000,000");
  expect(english("1.25e-7")).toBe("0.000000125");
  expect(english("123.45e1")).toBe("1,234.5");
});

test("negative numbers have a minus sign, and zero has none", () => {
  expect(english("-12.5")).toBe("−12.5");
  expect(english("-0")).toBe("0");
});

test("digits are those of the reader's language", () => {
  expect(numberText(exact("12.5"), "ar-EG")).toBe("١٢٫٥");
});
