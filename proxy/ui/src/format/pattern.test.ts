import { expect, test } from "vitest";
import { dateText, datetimeText } from "./date";

const day = (pattern: string, locale = "en-US") => dateText("2026-03-01", pattern, locale);
const time = (pattern: string) => datetimeText("2026-03-01T21:05:09Z", pattern, "en-US", "Europe/Zurich");

test("date fields follow the order of the pattern", () => {
  expect(day("dd.MM.yyyy")).toBe("01.03.2026");
  expect(day("d.M.yy")).toBe("1.3.26");
  expect(day("yyyy-MM-dd")).toBe("2026-03-01");
  expect(day("EEE, d MMM y")).toBe("Sun, 1 Mar 2026");
  expect(dateText("0819-01-02", "d.M.yyyy", "en-US")).toBe("2.1.0819");
});

test("names are in the user's language", () => {
  expect(day("EEEE, d. MMMM yyyy", "de-CH")).toBe("Sonntag, 1. März 2026");
  expect(day("d MMMM", "ru")).toBe("1 марта");
});

test("quoted letters are literal, and two quotes are one", () => {
  expect(day("d 'de' MMMM")).toBe("1 de March");
  expect(day("d 'o''clock' ''")).toBe("1 o'clock '");
});

test("times are in the user's time zone, in 12 or 24 hours", () => {
  expect(time("dd.MM.yyyy HH:mm:ss")).toBe("01.03.2026 22:05:09");
  expect(time("h:mm a")).toBe("10:05 PM");
  expect(datetimeText("2026-03-01T00:00:00Z", "H hh a", "en-US", "UTC")).toBe("0 12 AM");
});
