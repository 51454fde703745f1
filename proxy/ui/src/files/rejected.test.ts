import { expect, test } from "vitest";
import type { Reading } from "./reading";
import { byColumn, byLine, rejectedFile, rejectedName } from "./rejected";

const error = (line: number, column: string | null, message: string) => ({
  line,
  column,
  code: "invalid_value",
  message,
});

const csv = { format: "csv", delimiter: ";", header: ["No", "Name", "import_error"] } as Reading;

test("rejected row ends with its reasons", async () => {
  const rows = [
    { line: 2, row: '1;"a\nb;";wrong\n', errors: [error(2, "No", "taken"), error(2, null, "too long")] },
    { line: 4, row: "2\n", errors: [error(4, "Name", 'no "x"')] },
  ];
  expect(await (await rejectedFile(csv, rows)).text()).toBe(
    'No;Name;import_error\n1;"a\nb;";No: taken; too long\n2;;"Name: no ""x"""\n'.replace(
      "No: taken; too long",
      '"No: taken; too long"',
    ),
  );
});

test("malformed row is saved unchanged with its reason", async () => {
  const wrong = { ...error(2, null, 'text follows a closing quote: ""'), code: "invalid_csv" };
  const rows = [{ line: 2, row: '1;"Say "hi" now"', errors: [wrong] }];
  expect(await (await rejectedFile({ ...csv, header: ["No", "Name"] }, rows)).text()).toBe(
    'No;Name;import_error\n1;"Say "hi" now";"text follows a closing quote: """""\n',
  );
});

test("rejected NDJSON lines are saved unchanged", async () => {
  const rows = [{ line: 1, row: '{"a":1}\n', errors: [error(1, "a", "no")] }];
  expect(await (await rejectedFile({ ...csv, format: "ndjson" }, rows)).text()).toBe('{"a":1}\n');
});

test("errors are grouped by line, in order", () => {
  const grouped = byLine([error(9, "a", "1"), error(3, "a", "2"), error(9, "b", "3")]);
  expect([...grouped].map(([line, errors]) => [line, errors.length])).toEqual([
    [3, 1],
    [9, 2],
  ]);
});

test("file of rejected rows is named after the imported file", () => {
  expect(["a.b.csv", "data"].map(rejectedName)).toEqual(["a.b-rejected.csv", "data-rejected"]);
});

test("errors are counted by column, highest count first", () => {
  const errors = [error(2, "a", "1"), error(3, "b", "2"), error(4, "b", "3"), error(5, null, "4")];
  expect(byColumn(errors)).toEqual([
    ["b", 2],
    ["a", 1],
    [null, 1],
  ]);
});
