/** Exports a list as a file, streamed to disk if the browser supports it. */
import { useRef, useState } from "react";
import { type ExportFormat, requestExport } from "../api/export";
import { RequestError, sentence } from "../api/problem";
import { save } from "../components/save";
import { showErrorToast, showToast } from "../components/toast";
import { messages } from "../language";
import type { SearchBody } from "./state";

type Writable = WritableStream<Uint8Array>;
type Picker = (options: { suggestedName: string }) => Promise<{ createWritable: () => Promise<Writable> }>;

const picker = (): Picker | undefined =>
  (window as unknown as { showSaveFilePicker?: Picker }).showSaveFilePicker?.bind(window);

/** Counts the bytes that pass through. */
function counting(report: (bytes: number) => void) {
  let bytes = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      bytes += piece.length;
      report(bytes);
      controller.enqueue(piece);
    },
  });
}

/** Exports of a list, with the number of bytes received while one runs. */
export function useExport(project: string, template: string) {
  const [bytes, setBytes] = useState<number | null>(null);
  const controller = useRef<AbortController | null>(null);

  const start = async (body: SearchBody, format: ExportFormat) => {
    const name = `${template}.${format}`;
    controller.current = new AbortController();
    const { signal } = controller.current;
    try {
      // Browsers let a page open the file picker only right after a click.
      const file = await picker()?.({ suggestedName: name });
      setBytes(0);
      const response = await requestExport(project, template, { format }, body, signal);
      const stream = (response.body ?? new ReadableStream()).pipeThrough(counting(setBytes));
      if (file) await stream.pipeTo(await file.createWritable(), { signal });
      else save(await new Response(stream, { headers: response.headers }).blob(), name);
      showToast(messages.list.exported(name));
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      // The status was sent before the error. The service can report a late error only by closing the connection.
      showErrorToast(error instanceof RequestError ? sentence(error) : messages.list.exportBroken);
    } finally {
      setBytes(null);
    }
  };
  return { bytes, start, stop: () => controller.current?.abort() };
}
