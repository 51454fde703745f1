import { expect, test } from "vitest";
import { sparkPath } from "./spark";

const day = (n: number, value: number) => ({ at: `2024-05-0${n}T00:00:00Z`, value });

test("points are placed by time, the highest at the top", () => {
  expect(sparkPath([day(1, 0), day(2, 10), day(5, 5)], 40, 10)).toBe("M0.0 10.0L10.0 0.0L40.0 5.0");
});

test("constant series is a line in the middle", () => {
  expect(sparkPath([day(1, 7), day(3, 7)], 40, 10)).toBe("M0.0 5.0L40.0 5.0");
});

test("single point draws no line", () => {
  expect(sparkPath([day(1, 7)], 40, 10)).toBe("");
  expect(sparkPath([], 40, 10)).toBe("");
});
