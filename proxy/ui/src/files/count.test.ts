import { expect, test } from "vitest";
import { countRows, RowCounter } from "./count";

const file = (text: string) => new File([text], "a.csv");
const never = new AbortController().signal;

test("header and empty lines do not count as rows", async () => {
  expect(await countRows(file("key,name\na,1\n\nb,2"), ",", never)).toBe(2);
  expect(await countRows(file("key,name"), ",", never)).toBe(0);
  expect(await countRows(file('{"a":1}\n{"b":2}\n'), null, never)).toBe(2);
});

test("quoted line break does not end a row", async () => {
  expect(await countRows(file('key,name\na,"1\n\n2 ""x"""\nb,2\n'), ",", never)).toBe(2);
});

test("stray quote hides no row", async () => {
  expect(
    await countRows(file('key,name\na,5" pipe\nb,2\nc,"Say "hi""\nd,"5"" pipe\ne,5\n'), ",", never),
  ).toBe(5);
});

test("row may be split anywhere between two chunks", () => {
  const bytes = new TextEncoder().encode('a,"x\ny"\nb,2\n');
  for (let cut = 0; cut <= bytes.length; cut++) {
    const counter = new RowCounter(",");
    counter.add(bytes.subarray(0, cut));
    counter.add(bytes.subarray(cut));
    expect(counter.end()).toBe(2);
  }
});
