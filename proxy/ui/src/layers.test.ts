import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

/** The folders of src, from the lowest to the highest. Each imports only from itself and from lower ones. */
const ORDER = [
  "style",
  "language",
  "session",
  "navigation",
  "api",
  "code",
  "components",
  "format",
  "value",
  "filter",
  "record",
  "list",
  "template",
  "files",
  "inbound",
  "webhooks",
  "access",
  "operations",
  "reference",
  "app",
  ".",
];

const MAX_LINES = 300;

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
  .map((file) => ({ file, text: readFileSync(join("src", file), "utf8") }));

const folder = (path: string) =>
  /\.tsx?$/.test(path) && !path.includes("/") ? "." : (path.split("/")[0] ?? "");

const importsOf = (file: string, text: string) =>
  [...text.matchAll(/(?:from|import\()\s*"(\.[^"]*)"/g)].map(([, path = ""]) =>
    relative("src", normalize(join("src", dirname(file), path))),
  );

test("folders import downwards only", () => {
  const violations = sources.flatMap(({ file, text }) =>
    importsOf(file, text).flatMap((target) => {
      const [from, to] = [ORDER.indexOf(folder(file)), ORDER.indexOf(folder(target))];
      return from >= 0 && to >= 0 && to <= from ? [] : [`${file} imports ${target}`];
    }),
  );
  expect(violations).toEqual([]);
});

test("imports have no cycles", () => {
  const name = (file: string) => file.replace(/\.tsx?$/, "");
  let left = new Map(sources.map(({ file, text }) => [name(file), importsOf(file, text)]));
  for (let before = left.size + 1; left.size < before; ) {
    before = left.size;
    left = new Map([...left].filter(([, targets]) => targets.some((target) => left.has(target))));
  }
  expect([...left.keys()]).toEqual([]);
});

test("files have at most 300 lines", () => {
  const long = sources.filter(({ text }) => text.split("\n").length > MAX_LINES);
  expect(long.map(({ file }) => file)).toEqual([]);
});
