import { expect, test } from "vitest";
import { changed, dateExample, has, openChoices, reads, withMarks, withZone, wordsOf } from "./cellFormat";

test("standard separators are not part of the format", () => {
  expect(withMarks({ date: "D.M.YYYY", decimal: "," }, ".", "")).toEqual({ date: "D.M.YYYY" });
  expect(withMarks({}, ",", ".")).toEqual({ decimal: ",", thousands: "." });
  expect(withMarks({ decimal: ",", thousands: "." }, ".", ".")).toEqual({ decimal: "." });
});

test("time zone is added if times have none", () => {
  expect(withZone({ datetime: "D.M.YYYY H:mm" }, "Europe/Zurich").time_zone).toBe("Europe/Zurich");
  expect(withZone({ datetime: "D.M.YYYY H:mm", time_zone: "UTC" }, "Europe/Zurich").time_zone).toBe("UTC");
  expect(withZone({ date: "D.M.YYYY" }, "Europe/Zurich")).toEqual({ date: "D.M.YYYY" });
});

test("choice is open until the format contains one of its options", () => {
  const formats = ["DD/MM/YYYY", "MM/DD/YYYY"].map((date) => ({ format: { date }, cells: [] }));
  const proposal = { choices: [{ columns: ["born"], formats }] };
  expect(openChoices(proposal, {}).length).toBe(1);
  expect(openChoices(proposal, { date: "MM/DD/YYYY" })).toEqual([]);
  expect(has({ true: ["ja"] }, { true: ["ja"] })).toBe(true);
});

test("empty values are omitted", () => {
  expect(wordsOf(" ja, x ,")).toEqual(["ja", "x"]);
  expect(wordsOf(" ")).toBeUndefined();
  expect(changed({ true: ["ja"], list: "|" }, { true: wordsOf("") })).toEqual({ list: "|" });
});

test("format affects a type only by its own members", () => {
  expect(reads({ decimal: "," }, "metric")).toBe(true);
  expect(reads({ decimal: "," }, "date")).toBe(false);
  expect(reads({ null: ["", "NULL"] }, "date")).toBe(true);
});

test("pattern is shown as an example date", () => {
  expect(["DD.MM.YYYY", "M/D/YYYY", "YYYYMMDD"].map(dateExample)).toEqual([
    "29.02.2024",
    "2/29/2024",
    "20240229",
  ]);
});
