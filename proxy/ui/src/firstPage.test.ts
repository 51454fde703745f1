import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const BUILD = "dist/";
const MANIFEST = `${BUILD}.vite/manifest.json`;
const MAX_BYTES = 250_000;

type Chunk = { file: string; name?: string; imports?: string[]; css?: string[] };

/** The files that a browser loads before it can render these chunks. */
function needed(manifest: Record<string, Chunk>, names: string[]): Set<string> {
  const reached = new Set(names);
  // The iteration includes elements that are added to the set meanwhile.
  for (const name of reached) for (const it of manifest[name]?.imports ?? []) reached.add(it);
  return new Set(
    [...reached].flatMap((name) => {
      const chunk = manifest[name];
      if (!chunk) throw new Error(`${MANIFEST} has no ${name}`);
      return [chunk.file, ...(chunk.css ?? [])];
    }),
  );
}

/** The name of the chunk that renders the page. */
function application(manifest: Record<string, Chunk>): string {
  const found = Object.entries(manifest).find(
    ([, { name, file }]) => name === "application" && file.endsWith(".js"),
  );
  if (!found) throw new Error(`${MANIFEST} has no application`);
  return found[0];
}

test.skipIf(!existsSync(MANIFEST))("the page names every file that the first list needs", () => {
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const page = readFileSync(`${BUILD}index.html`, "utf8");
  const missing = [...needed(manifest, ["index.html", application(manifest)])].filter(
    (file) => !page.includes(`"/${file}"`),
  );
  expect(missing).toEqual([]);
});

// `.dev/application check` makes the application before it runs the tests.
test.skipIf(!existsSync(MANIFEST))("the first list of records is there after 250 KB", () => {
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const files = [...needed(manifest, ["index.html", application(manifest)])];
  const sizes = files.map((file): [string, number] => [file, gzipSync(readFileSync(BUILD + file)).length]);
  const sum = sizes.reduce((bytes, [, size]) => bytes + size, 0);
  const largest = sizes.sort(([, a], [, b]) => b - a).slice(0, 10);
  expect(sum, `${sum} bytes, of them ${largest.map((it) => it.join(" ")).join(", ")}`).toBeLessThanOrEqual(
    MAX_BYTES,
  );
});
