import { expect, test } from "vitest";
import { asLines } from "./asLines";

const lines = async (text: string, name = "a.json") => (await asLines(new File([text], name))).text();

test("array becomes lines with exact numbers", async () => {
  expect(await lines('\n[\n  {"a": 12345678901234567890.50},\n  {"b": "\\n"}\n]\n')).toBe(
    '{"a":12345678901234567890.50}\n{"b":"\\n"}\n',
  );
});

test("other files are unchanged", async () => {
  for (const text of ['{"a":1}\n{"b":2}\n', '[{"a":1}', ""]) expect(await lines(text)).toBe(text);
  expect(await lines("[1]", "a.csv")).toBe("[1]");
});
