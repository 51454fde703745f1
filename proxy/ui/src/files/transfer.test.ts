import { afterEach, expect, test, vi } from "vitest";
import { RequestError } from "../api/problem";
import { type Counts, type Importer, Lines, type RejectedRow, transfer } from "./transfer";

const report = { rows: 3, created: 2, updated: 0, unchanged: 0, failed: 1, errors: [] };
const text = [
  { file: { header: ["a"], delimiter: "," } },
  {
    rejected: { line: 2, row: "x", errors: [{ line: 2, column: "a", code: "invalid_value", message: "no" }] },
  },
  { waits_for: { process: 7, role: "clerk", since: "2026-01-02T03:04:05Z" } },
  { progress: { rows: 3 } },
  report,
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

test("response is read as it arrives, each line once", () => {
  const counted: Counts[] = [];
  const rejected: RejectedRow[] = [];
  const importers: Importer[] = [];
  const lines = new Lines({
    counted: (it) => counted.push(it),
    rejected: (it) => rejected.push(it),
    waitsFor: (it) => importers.push(it),
  });
  for (let end = 1; end < text.length; end += 7) lines.read(text.slice(0, end), false);
  expect(lines.read(text, true)).toEqual(report);
  expect(counted.length).toBe(1);
  expect(importers.map(({ role }) => role)).toEqual(["clerk"]);
  expect(rejected.map(({ line }) => line)).toEqual([2]);
});

test("response without a report is an error", () => {
  expect(() => new Lines({}).read(text.slice(0, 40), true)).toThrow(RequestError);
});

test("problem in the response rejects the file", () => {
  const problem = { status: 503, code: "unavailable", detail: "Others hold a lock." };
  const line = `${JSON.stringify({ problem })}\n`;
  expect(() => new Lines({}).read(line, true)).toThrow("Others hold a lock.");
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A service that returns these responses in order, and repeats the last one. */
function service(...responses: [status: number, body: unknown][]) {
  const sent: string[] = [];
  class Request {
    upload = {};
    status = 0;
    responseText = "";
    onload = () => {};
    open(_: string, address: string) {
      sent.push(address);
    }
    setRequestHeader() {}
    abort() {}
    send() {
      const [status, body] = responses[sent.length - 1] ?? responses.at(-1) ?? [0, null];
      this.status = status;
      this.responseText = `${JSON.stringify(body)}\n`;
      setTimeout(() => this.onload());
    }
  }
  vi.stubGlobal("XMLHttpRequest", Request);
  vi.useFakeTimers();
  const send = async (isReported = false) => {
    const options = { project: "p", template: "t", contentType: "text/csv", query: {} };
    const file = new File(["a\n1\n"], "a.csv");
    const outcome = transfer(file, options, isReported, {}, new AbortController().signal).catch(
      (error) => error,
    );
    await vi.runAllTimersAsync();
    return outcome;
  };
  return { sent, send };
}

const busy = {
  status: 429,
  code: "rate_limited",
  detail: "There are too many files at once.",
  retryable: true,
};

test("file is retried automatically while the service is busy", async () => {
  const { sent, send } = service([429, busy], [200, report]);
  expect(await send()).toEqual(report);
  expect(sent.length).toBe(2);
});

test.each([
  ["rows were written before the rejection", { ...busy, report }],
  ["the service says not to", { ...busy, retryable: false }],
  ["it may have had an effect", { ...busy, outcome: "partial" }],
])("a file is not sent again by itself if %s", async (_, problem) => {
  const { sent, send } = service([429, problem], [200, report]);
  expect(await send()).toBeInstanceOf(RequestError);
  expect(sent.length).toBe(1);
});

test("file is not retried after its response has begun", async () => {
  const { sent, send } = service([200, { problem: busy }], [200, report]);
  expect(await send(true)).toBeInstanceOf(RequestError);
  expect(sent.length).toBe(1);
});

test("dry run is retried even after rows were processed", async () => {
  const { sent, send } = service([429, { ...busy, report: { ...report, dry_run: true } }], [200, report]);
  expect(await send()).toEqual(report);
  expect(sent.length).toBe(2);
});
