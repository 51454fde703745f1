/** A JSON array as an NDJSON file, so that preview, row count and slices need not handle arrays. */
import { parseJson, renderJson } from "../api/json";

/** Only arrays up to this size are converted. Longer ones are sent by programs. */
const MAX_BYTES = 64 << 20;

/** The file itself, unless it is an array that can be parsed. */
export async function asLines(file: File): Promise<File> {
  const beginning = new TextDecoder().decode(await file.slice(0, 1024).arrayBuffer());
  if (!/\.(ndjson|jsonl|json)$/i.test(file.name) || !/^\s*\[/.test(beginning) || file.size > MAX_BYTES)
    return file;
  try {
    const elements = parseJson(await file.text());
    if (!Array.isArray(elements)) return file;
    return new File([elements.map((it) => `${renderJson(it)}\n`).join("")], file.name, {
      type: "application/x-ndjson",
    });
  } catch {
    // The service reports the error.
    return file;
  }
}
