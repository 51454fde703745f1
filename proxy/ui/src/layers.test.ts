import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

/** The folders of src, from the lowest to the highest. Each imports only from itself and those before it. */
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
  "access",
  "operations",
  "reference",
  "app",
  ".",
];

const MOST_LINES = 300;

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
  .map((file) => ({ file, text: readFileSync(join("src", file), "utf8") }));

const folder = (path: string) =>
  /\.tsx?$/.test(path) && !path.includes("/") ? "." : (path.split("/")[0] ?? "");

test("folders import downwards only", () => {
  const faults = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:from|import\()\s*"(\.[^"]*)"/g)].flatMap(([, path = ""]) => {
      const target = relative("src", normalize(join("src", dirname(file), path)));
      const [from, to] = [ORDER.indexOf(folder(file)), ORDER.indexOf(folder(target))];
      return from >= 0 && to >= 0 && to <= from ? [] : [`${file} imports ${target}`];
    }),
  );
  expect(faults).toEqual([]);
});

/** The files that a file imports, of types alone as well, but for those that it loads later. */
const imported = ({ file, text }: { file: string; text: string }): string[] =>
  [...text.matchAll(/from\s*"(\.[^"]*)"/g)].flatMap(([, path = ""]) => {
    const target = relative("src", normalize(join("src", dirname(file), path)));
    const names = [target, `${target}.ts`, `${target}.tsx`, `${target}/index.ts`];
    return sources.filter((it) => names.includes(it.file)).map((it) => it.file);
  });

test("files do not import each other in cycles", () => {
  const edges = new Map(sources.map((source) => [source.file, imported(source)]));
  const reached = (from: string) => {
    const files = new Set(edges.get(from));
    // A set that grows is walked to its new end.
    for (const file of files) for (const further of edges.get(file) ?? []) files.add(further);
    return files;
  };
  expect([...edges.values()].flat().length).toBeGreaterThan(100);
  expect(sources.map(({ file }) => file).filter((file) => reached(file).has(file))).toEqual([]);
});

test("files are short", () => {
  const long = sources.filter(({ text }) => text.split("\n").length > MOST_LINES);
  expect(long.map(({ file }) => file)).toEqual([]);
});
