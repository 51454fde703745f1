import { expect, test } from "vitest";
import { isOpen, rowsAt } from "./rowsAt";

const error = (line: number, code = "invalid_value") => [{ line, column: null, code, message: "no" }];

const found = async (text: string, format: "csv" | "ndjson", ...errors: [number, string?][]) => {
  const reading = { format, delimiter: ";" as const, encoding: "utf-8" as const };
  const lines = new Map(errors.map(([line, code]) => [line, error(line, code)]));
  const rows = await rowsAt(new Blob([text]), reading, lines);
  return [...rows.values()].sort((a, b) => a.line - b.line).map(({ line, cells }) => [line, ...cells]);
};

test("rows are found by their first line", async () => {
  const text = 'key;name\r\na;"1\r\n2 ""x"""\r\n\rb;"3"\nc;4';
  expect(await found(text, "csv", [2], [5], [6])).toEqual([
    [2, "a", '1\n2 "x"'],
    [5, "b", "3"],
    [6, "c", "4"],
  ]);
  expect(await found('{"a":1}\n\n{"b":\r2}\n', "ndjson", [3])).toEqual([[3, '{"b":\r2}']]);
});

test("row with malformed quotes is one line and hides no other row", async () => {
  const text = 'key;name\nv2;"5"" pipe;2\nv3;x\nv4;"6"" pipe\n';
  expect(await found(text, "csv", [2, "invalid_csv"], [3], [4, "invalid_csv"])).toEqual([
    [2, 'v2;"5"" pipe;2'],
    [3, "v3", "x"],
    [4, 'v4;"6"" pipe'],
  ]);
});

test("row continues in an open quoted cell", () => {
  for (const row of ['"a', 'x;"a;b', '"a""', 'x;"']) expect(isOpen(row, ";"), row).toBe(true);
  for (const row of ["", "a", '"a"', 'a"b', '"a";"b"', '""', 'x;"a""b"'])
    expect(isOpen(row, ";"), row).toBe(false);
});
