import { expect, test } from "vitest";
import { exact } from "../api/json";
import { type Format, formatOfAll, numberText } from "./number";

const english = (text: string, format?: Format) => numberText(exact(text), format, "en-US");

test("numbers are grouped by the user's locale", () => {
  expect(english("1234567")).toBe("1,234,567");
  expect(numberText(exact("1234567.5"), {}, "de-DE")).toBe("1.234.567,5");
  expect(numberText(exact("1234567"), {}, "hi-IN")).toBe("12,34,567");
});

test("number keeps every digit", () => {
  expect(english("12345678901234567890123456789.123456789012345678901")).toBe(
    "12,345,678,901,234,567,890,123,456,789.123456789012345678901",
  );
});

test("zeros of a short fraction are kept, trailing zeros of a long one are dropped", () => {
  expect(english("1.50")).toBe("1.50");
  expect(english("1.0")).toBe("1.0");
  expect(english("4948.8100000000000000")).toBe("4,948.81");
  expect(english("4948.8000")).toBe("4,948.80");
  expect(english("5028.0000000000000000")).toBe("5,028");
});

test("huge exponent is not written out", () => {
  for (const text of ["1e999999999", "-1.5e-400000000", "1e1001"]) expect(english(text)).toBe(text);
  expect(english("1e1000")).toHaveLength(1001 + 333);
});

test("small exponent is written out", () => {
  expect(english("1e+21")).toBe("1,000,000,000,000,000,000,000");
  expect(english("1.25e-7")).toBe("0.000000125");
  expect(english("123.45e1")).toBe("1,234.5");
});

test("negative numbers have a minus sign, and zero has none", () => {
  expect(english("-12.5")).toBe("−12.5");
  expect(english("-0")).toBe("0");
});

test("digits are in the user's script", () => {
  expect(numberText(exact("12.5"), {}, "ar-EG")).toBe("١٢٫٥");
});

test("years are not grouped, other numbers are", () => {
  expect(["999", "1000", "1819", "2999", "3000"].map((it) => english(it))).toEqual([
    "999",
    "1000",
    "1819",
    "2999",
    "3,000",
  ]);
  expect(english("1819.5")).toBe("1,819.5");
  expect(english("-1819")).toBe("−1,819");
  expect(english("1819", { grouping: true })).toBe("1,819");
  expect(english("1234567.5", { grouping: false })).toBe("1234567.5");
});

test("numbers in one list are grouped alike", () => {
  const years = [exact("1819"), null, undefined, 1976];
  expect(formatOfAll({ unit: "mm" }, years)).toEqual({ grouping: false, unit: "mm" });
  expect(formatOfAll(undefined, [...years, exact("12000")])).toEqual({ grouping: true });
  expect(formatOfAll({ grouping: true }, years)).toEqual({ grouping: true });
});

test("decimals round half away from zero and are padded with zeros", () => {
  expect(english("1.005", { decimals: 2 })).toBe("1.01");
  expect(english("-2.5", { decimals: 0 })).toBe("−3");
  expect(english("999.995", { decimals: 2 })).toBe("1,000.00");
  expect(english("0.04", { decimals: 1 })).toBe("0.0");
  expect(english("-0.04", { decimals: 1 })).toBe("0.0");
  expect(english("12345678901234567890.5", { decimals: 0 })).toBe("12,345,678,901,234,567,891");
  expect(english("7", { decimals: 3 })).toBe("7.000");
});

test("units, currencies and percent signs follow the user's locale", () => {
  expect(english("1008.5", { unit: "mm" })).toBe("1,008.5\u00a0mm");
  expect(english("3.5", { currency: "USD" })).toBe("$3.50");
  expect(english("-3", { currency: "USD" })).toBe("−$3.00");
  expect(english("3.14159", { currency: "USD" })).toBe("$3.14159");
  expect(english("3", { currency: "JPY" })).toBe("¥3");
  expect(english("3.5", { currency: "USD", decimals: 0 })).toBe("$4");
  expect(numberText(exact("3.5"), { currency: "EUR" }, "de-DE")).toBe("3,50\u00a0€");
  expect(english("0.125", { percent: true })).toBe("12.5%");
  expect(english("12", { percent: true })).toBe("1,200%");
  expect(numberText(exact("0.5"), { percent: true }, "de-DE")).toBe("50\u00a0%");
});

test("incomplete currency code is not an error", () => {
  for (const currency of ["", "C", "CH"]) expect(english("3.5", { currency })).toBe("3.5");
});
