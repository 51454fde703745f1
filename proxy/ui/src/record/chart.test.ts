import { expect, test } from "vitest";
import { LosslessNumber } from "../api/json";
import { dots, draw, line, nearest, niceTicks, type Point } from "./chart";

const at = (day: number, value: Point["value"]): Point => ({
  at: `2026-01-${String(day).padStart(2, "0")}T00:00:00Z`,
  value,
});

test("ticks are round and enclose the values", () => {
  expect(niceTicks(1, 3)).toEqual([1, 2, 3]);
  expect(niceTicks(0.12, 0.57)).toEqual([0, 0.2, 0.4, 0.6]);
  expect(niceTicks(-30, 70)).toEqual([-50, 0, 50, 100]);
  expect(niceTicks(12_345, 98_765)).toEqual([0, 50_000, 100_000]);
});

test("single value is in the middle of its ticks", () => {
  const [low = 0, high = 0] = [niceTicks(5, 5)[0], niceTicks(5, 5).at(-1)];
  expect(low).toBeLessThan(5);
  expect(high).toBeGreaterThan(5);
  expect(niceTicks(0, 0)[0]).toBeLessThan(0);
});

test("points are placed by time, not by index", () => {
  expect(draw([at(1, 0), at(2, 10), at(11, 10)]).plotted.map(({ x }) => x)).toEqual([0, 0.1, 1]);
});

test("points without a value are left out, and no points give no chart", () => {
  expect(draw([at(1, 1), at(2, null), at(3, 2)]).plotted).toHaveLength(2);
  expect(draw([])).toEqual({ plotted: [], ticks: [], low: 0, high: 1 });
});

test("exact numbers are drawn", () => {
  const { plotted } = draw([at(1, 0), at(2, new LosslessNumber("10.00"))]);
  expect(plotted[1]?.y).toBe(1);
});

test("line goes from left to right, high values at the top", () => {
  const { plotted } = draw([at(1, 0), at(3, 10)]);
  expect(line(plotted, 100, 50)).toBe("M0 50L100 0");
  expect(dots(plotted, 100, 50)).toBe("M0 50h0M100 0h0");
});

test("nearest point is found by x coordinate", () => {
  const { plotted } = draw([at(1, 0), at(2, 10), at(11, 10)]);
  expect([nearest(plotted, 0.04), nearest(plotted, 0.5), nearest(plotted, 0.9), nearest([], 0)]).toEqual([
    0, 1, 2, -1,
  ]);
});
