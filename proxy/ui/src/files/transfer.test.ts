import { expect, test } from "vitest";
import { RequestError } from "../api/problem";
import { type Counts, Lines, type RefusedRow } from "./transfer";

const report = { rows: 3, created: 2, updated: 0, unchanged: 0, failed: 1, errors: [] };
const text = [
  { file: { header: ["a"], delimiter: "," } },
  {
    refused: { line: 2, row: "x", errors: [{ line: 2, column: "a", code: "invalid_value", message: "no" }] },
  },
  { progress: { rows: 3 } },
  report,
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

test("an answer is read as it arrives, each line once", () => {
  const counted: Counts[] = [];
  const refused: RefusedRow[] = [];
  const lines = new Lines({ counted: (it) => counted.push(it), refused: (it) => refused.push(it) });
  for (let end = 1; end < text.length; end += 7) lines.read(text.slice(0, end), false);
  expect(lines.read(text, true)).toEqual(report);
  expect(counted.length).toBe(1);
  expect(refused.map(({ line }) => line)).toEqual([2]);
});

test("an answer without a report is a failure", () => {
  expect(() => new Lines({}).read(text.slice(0, 40), true)).toThrow(RequestError);
});

test("a problem in the answer is the refusal of the file", () => {
  const problem = { status: 503, code: "unavailable", detail: "Others hold a lock." };
  const line = `${JSON.stringify({ problem })}\n`;
  expect(() => new Lines({}).read(line, true)).toThrow("Others hold a lock.");
});
