import { expect, test } from "vitest";
import { readWhole } from "./wholeNumber";

test("whole number may contain the user's thousands separators", () => {
  for (const text of ["100000", "100,000", "100.000", "100 000", "100'000"])
    expect(readWhole(text)).toBe(100_000);
});

test("empty text means no limit", () => {
  expect(readWhole(" ")).toBeNull();
});

test("fractions, signs and words are not whole numbers", () => {
  for (const text of ["1.5", "-1", "1e5", "many", ".", "1,00"]) expect(readWhole(text)).toBeUndefined();
});
