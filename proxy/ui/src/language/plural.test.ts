import { expect, test } from "vitest";
import { messages } from ".";
import { rounded } from "./plural";

test.each([
  [0, 0],
  [7, 7],
  [69, 69],
  [694, 690],
  [69_164, 69_000],
  [69_501, 70_000],
])("an estimate of %i is said as %i", (estimate, said) => {
  expect(rounded(estimate)).toBe(said);
});

test("estimates are rounded", () => {
  const { counted, range, selectMatching } = messages.list;
  expect(counted(69_164, false)).toBe("About 69,000 records");
  expect(range(1, 20, 69_164, false)).toBe("1–20 of about 69,000");
  expect(selectMatching(69_164, false)).toBe("Select all (about 69,000) matching records");
  expect(counted(69_164, true)).toBe("69,164 records");
});
