/** What a list shows as a file, streamed to the disk where the browser can. */
import { useRef, useState } from "react";
import { inProject, send } from "../api/client";
import { parseJson, renderJson } from "../api/json";
import { requestError, sentence } from "../api/problem";
import { sayDone, sayRefused } from "../components/toast";
import { words } from "../language";
import type { SearchBody } from "./state";

export type Format = "csv" | "ndjson";

type Writable = WritableStream<Uint8Array>;
type Picker = (options: { suggestedName: string }) => Promise<{ createWritable: () => Promise<Writable> }>;

const picker = (): Picker | undefined =>
  (window as unknown as { showSaveFilePicker?: Picker }).showSaveFilePicker?.bind(window);

async function fetchFile(
  project: string,
  template: string,
  body: SearchBody,
  format: Format,
  signal: AbortSignal,
): Promise<Response> {
  const response = await send(
    new Request(`/v1/entities/template/${encodeURIComponent(template)}/export?format=${format}`, {
      method: "POST",
      headers: { ...inProject(project), "Content-Type": "application/json" },
      body: renderJson(body),
      signal,
    }),
  );
  if (response.ok) return response;
  const text = await response.text();
  throw requestError(response.status, text.startsWith("{") ? parseJson(text) : null);
}

/** Counts the bytes that pass. */
function counting(say: (bytes: number) => void) {
  let bytes = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      bytes += piece.length;
      say(bytes);
      controller.enqueue(piece);
    },
  });
}

function save(blob: Blob, name: string) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Exports of a list: how many bytes have come, while one runs. */
export function useExport(project: string, template: string) {
  const [bytes, setBytes] = useState<number | null>(null);
  const controller = useRef<AbortController | null>(null);

  const start = async (body: SearchBody, format: Format) => {
    const name = `${template}.${format}`;
    controller.current = new AbortController();
    const { signal } = controller.current;
    try {
      // The browser lets a page ask for a file only right after a press.
      const file = await picker()?.({ suggestedName: name });
      setBytes(0);
      const response = await fetchFile(project, template, body, format, signal);
      const stream = (response.body ?? new ReadableStream()).pipeThrough(counting(setBytes));
      if (file) await stream.pipeTo(await file.createWritable(), { signal });
      else save(await new Response(stream, { headers: response.headers }).blob(), name);
      sayDone(words.list.exported(name));
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) sayRefused(sentence(error));
    } finally {
      setBytes(null);
    }
  };
  return { bytes, start, stop: () => controller.current?.abort() };
}
