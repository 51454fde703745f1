import { expect, test } from "vitest";
import { slices } from "./slices";

async function cut(text: string, isCsv: boolean, size: number, delimiter = ",") {
  const found: [string, number][] = [];
  for await (const { blob, skipped } of slices(new Blob([text]), isCsv ? delimiter : null, size))
    found.push([await blob.text(), skipped]);
  return found;
}

test("each slice has the header, whole rows and the number of skipped lines", async () => {
  expect(await cut("k,n\na,1\nb,2\nc,3", true, 9)).toEqual([
    ["k,n\na,1\nb,2\n", 0],
    ["k,n\nc,3", 2],
  ]);
  expect(await cut("{1}\n{2}\n{3}\n", false, 9)).toEqual([
    ["{1}\n{2}\n", 0],
    ["{3}\n", 2],
  ]);
});

test("row with a quoted line break is not split, however long it is", async () => {
  const long = `a,"${"x\n".repeat(20)}"\n`;
  expect(await cut(`k,n\n${long}b,2\n`, true, 6)).toEqual([
    [`k,n\n${long}`, 0],
    ["k,n\nb,2\n", 21],
  ]);
});

test("slices contain every row", async () => {
  const rows = Array.from({ length: 30 }, (_, at) => `${at},"${at % 3 ? "x" : "y\nz"}"\n`);
  for (let size = 6; size < 60; size++) {
    const pieces = await cut(`k,n\n${rows.join("")}`, true, size);
    expect(pieces.map(([text]) => text.slice(4)).join("")).toBe(rows.join(""));
  }
});

test("stray quote joins no rows", async () => {
  for (const quoted of ['a,5" pipe\n', 'a,"Say "hi""\n'])
    expect(await cut(`k,n\n${quoted}b,2\nc,"3"\nd,4\n`, true, quoted.length + 5)).toEqual([
      [`k,n\n${quoted}b,2\n`, 0],
      ['k,n\nc,"3"\nd,4\n', 2],
    ]);
  const open = 'a,"5"" pipe\nb,2\nc,"3"\nd,4\nd,4\n';
  const [first, second] = await cut(`k,n\n${open}${"d,4\n".repeat(20)}`, true, 16);
  expect([first, second?.[1]]).toEqual([[`k,n\n${open}`, 0], 5]);
});

test("sep line belongs to the header", async () => {
  expect(await cut("sep=;\r\n\r\nk;n\r\na;1\r\nb;2\r\n", true, 6, ";")).toEqual([
    ["sep=;\r\n\r\nk;n\r\na;1\r\n", 0],
    ["sep=;\r\n\r\nk;n\r\nb;2\r\n", 1],
  ]);
});
