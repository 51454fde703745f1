import { expect, test } from "vitest";
import { pauseAfter } from "./pause";

test("pause doubles up to a minute", () => {
  expect([0, 1, 2, 3].map((failures) => pauseAfter(failures, null, 1))).toEqual([1000, 2000, 4000, 8000]);
  expect(pauseAfter(6, null, 1)).toBe(60_000);
  expect(pauseAfter(5000, 3000, 1)).toBe(60_000);
});

test("up to half of the pause is random", () => {
  expect(pauseAfter(0, 3000, 0)).toBe(1500);
  expect(pauseAfter(0, 3000, 1)).toBe(3000);
});
