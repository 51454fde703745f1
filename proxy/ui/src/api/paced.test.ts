import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { paced } from "./paced";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

test("burst of requests runs once at its start and once at its end", async () => {
  let runs = 0;
  const { ask } = paced(async () => {
    runs += 1;
  }, 300);
  ask();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toBe(1);
  for (let at = 0; at < 100; at += 1) ask();
  await vi.advanceTimersByTimeAsync(299);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toBe(2);
});

test("request during a run starts another run after it", async () => {
  let runs = 0;
  const { ask } = paced(async () => {
    runs += 1;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }, 300);
  ask();
  await vi.advanceTimersByTimeAsync(500);
  ask(5000);
  ask();
  await vi.advanceTimersByTimeAsync(499);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toBe(2);
});

test("run can be delayed", async () => {
  let runs = 0;
  const { ask, stop } = paced(async () => {
    runs += 1;
  }, 300);
  ask(5000);
  await vi.advanceTimersByTimeAsync(4999);
  expect(runs).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(1);
  ask();
  stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs).toBe(1);
});
