/** Records as a file. */
import { inProject, send } from "./client";
import { parseJson, renderJson } from "./json";
import { requestError } from "./problem";

export type ExportFormat = "csv" | "ndjson";

/** The parameters of an export. `format` may also be an object that specifies how CSV writes values, as JSON. */
export type ExportQuery = { format: string; view?: string; delimiter?: string; bom?: "true" };

/** Requests the results of a search as a file, without pages. @throws RequestError if the service rejects the request */
export async function requestExport(
  project: string,
  template: string,
  query: ExportQuery,
  body: unknown,
  signal: AbortSignal,
): Promise<Response> {
  const path = `/v1/entities/template/${encodeURIComponent(template)}/export?${new URLSearchParams(query)}`;
  const response = await send(
    new Request(path, {
      method: "POST",
      headers: { ...inProject(project), "Content-Type": "application/json" },
      body: renderJson(body),
      signal,
    }),
  );
  if (!response.ok) throw requestError(response.status, parsed(await response.text()));
  return response;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
