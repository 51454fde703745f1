import { expect, test } from "vitest";
import { windowAt } from "./useWindow";

test("rows around the visible ones are rendered", () => {
  const { from, to, firstSeen, lastSeen } = windowAt(32 * 1000, 640, 32, 500_000);
  expect([firstSeen, lastSeen]).toEqual([1000, 1020]);
  expect(from).toBeLessThan(firstSeen);
  expect(to).toBeGreaterThan(lastSeen);
  expect(to - from).toBeLessThan(64);
});

test("scrolling by a few rows renders the same window", () => {
  const at = (row: number) => windowAt(32 * row, 640, 32, 500_000);
  expect(at(1002).from).toBe(at(1004).from);
});

test("window ends at the last row", () => {
  expect(windowAt(0, 640, 32, 3)).toEqual({ from: 0, to: 3, firstSeen: 0, lastSeen: 3 });
  expect(windowAt(0, 640, 32, 0)).toEqual({ from: 0, to: 0, firstSeen: 0, lastSeen: 0 });
});

test("without extra rows, little more than the visible ones is rendered", () => {
  const { from, to, lastSeen } = windowAt(0, 640, 32, 500_000, 0);
  expect(from).toBe(0);
  expect(to - lastSeen).toBeLessThan(6);
});

test("row less than half visible does not count as visible", () => {
  const { firstSeen, lastSeen, from, to } = windowAt(20, 632, 32, 500_000, 0);
  expect([firstSeen, lastSeen]).toEqual([1, 20]);
  expect(from).toBe(0);
  expect(to).toBeGreaterThan(20);
});
