import { expect, test } from "vitest";
import { isPast, relativeTime } from "./moment";

const now = Date.parse("2026-03-10T12:00:00Z");

test("time uses the largest fitting unit", () => {
  const relative = (instant: string) => relativeTime(instant, now);
  expect(relative("2026-03-10T11:59:55Z")).toBe("now");
  expect(relative("2026-03-10T11:59:20Z")).toBe("40 seconds ago");
  expect(relative("2026-03-10T11:01:00Z")).toBe("1 hour ago");
  expect(relative("2026-03-10T11:25:00Z")).toBe("35 minutes ago");
  expect(relative("2027-03-10T11:59:00Z")).toBe("in 1 year");
  expect(relative("2026-03-09T12:00:00Z")).toBe("1 day ago");
  expect(relative("2026-03-31T12:00:00Z")).toBe("in 3 weeks");
  expect(relative("2024-01-01T00:00:00Z")).toBe("2 years ago");
});

test("present moment counts as past", () => {
  expect(isPast("2026-03-10T12:00:00Z", now)).toBe(true);
  expect(isPast("2026-03-10T12:00:01Z", now)).toBe(false);
});
