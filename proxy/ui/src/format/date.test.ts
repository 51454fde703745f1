import { expect, test } from "vitest";
import { dateText, datetimeText, relativeText } from "./date";

const plain = (text: string) => text.replaceAll("\u202f", " ");

test("date is the same day in every time zone", () => {
  expect(dateText("2024-05-01", undefined, "en-US")).toBe("May 1, 2024");
  expect(dateText("2024-05-01", undefined, "de-CH")).toBe("01.05.2024");
});

test("time is shown in the user's time zone", () => {
  expect(plain(datetimeText("2024-05-01T22:30:00.123456Z", undefined, "en-US", "Europe/Zurich"))).toBe(
    "May 2, 2024, 12:30 AM",
  );
});

test("date outside the calendar of the browser is shown unchanged", () => {
  expect(dateText("infinity")).toBe("infinity");
  expect(datetimeText("0044-03-15 BC")).toBe("0044-03-15 BC");
});

test("relative date uses the largest fitting unit", () => {
  const now = Date.parse("2024-05-10T12:00:00Z");
  const relative = (text: string) => relativeText(text, now, "en-US");
  expect(relative("2024-05-10T11:59:50Z")).toBe("10 seconds ago");
  expect(relative("2024-05-10T09:30:00Z")).toBe("2 hours ago");
  expect(relative("2024-05-09T11:00:00Z")).toBe("yesterday");
  expect(relative("2024-05-13T12:00:00Z")).toBe("in 3 days");
  expect(relative("2022-01-01T12:00:00Z")).toBe("2 years ago");
});
