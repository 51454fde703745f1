import { expect, test } from "vitest";
import { isPast, relativeTime } from "./moment";

const now = Date.parse("2026-03-10T12:00:00Z");

test("time uses the largest fitting unit", () => {
  const said = (instant: string) => relativeTime(instant, now);
  expect(said("2026-03-10T11:59:55Z")).toBe("now");
  expect(said("2026-03-10T11:59:20Z")).toBe("40 seconds ago");
  expect(said("2026-03-10T11:01:00Z")).toBe("1 hour ago");
  expect(said("2026-03-10T11:25:00Z")).toBe("35 minutes ago");
  expect(said("2027-03-10T11:59:00Z")).toBe("in 1 year");
  expect(said("2026-03-09T12:00:00Z")).toBe("1 day ago");
  expect(said("2026-03-31T12:00:00Z")).toBe("in 3 weeks");
  expect(said("2024-01-01T00:00:00Z")).toBe("2 years ago");
});

test("the present moment has passed", () => {
  expect(isPast("2026-03-10T12:00:00Z", now)).toBe(true);
  expect(isPast("2026-03-10T12:00:01Z", now)).toBe(false);
});
