/**
 * Requests that are sent before the code that uses their responses has loaded.
 *
 * The same request within ten seconds takes that response. One request is kept for each address. A different request to
 * that address, such as another search, aborts it.
 */

import { askForFreshness } from "../session/position";

export type PreloadRequest = {
  method: "GET" | "POST";
  /** The path with its query. */
  path: string;
  project: string;
  key: string;
  body?: string;
};

type Sent = { signature: string; response: Promise<Response>; abort: AbortController };

/** Milliseconds after which an unused response is discarded. */
const LIFETIME = 10_000;

const sent = new Map<string, Sent>();

const signature = (authorization: string | null, project: string | null, body: string): string =>
  JSON.stringify([authorization, project, body]);

export function preload({ method, path, project, key, body }: PreloadRequest) {
  const authorization = `Bearer ${key}`;
  const headers = new Headers({ authorization, "X-Service-Project-Id": project });
  if (body !== undefined) headers.set("content-type", "application/json");
  askForFreshness(headers);
  const abort = new AbortController();
  const response = fetch(path, {
    method,
    headers,
    signal: abort.signal,
    ...(body === undefined ? {} : { body }),
  });
  // The caller that takes the response handles the failure.
  response.catch(() => {});
  const address = `${method} ${path}`;
  sent.set(address, { signature: signature(authorization, project, body ?? ""), response, abort });
  setTimeout(() => discard(address), LIFETIME);
}

function discard(address: string) {
  sent.get(address)?.abort.abort();
  sent.delete(address);
}

/** The response to exactly this request if it was preloaded; otherwise null. */
export async function takePreloaded(request: Request): Promise<Response | null> {
  if (sent.size === 0) return null;
  const { pathname, search } = new URL(request.url);
  const address = `${request.method} ${pathname}${search}`;
  const preloaded = sent.get(address);
  if (preloaded === undefined) return null;
  sent.delete(address);
  const { headers } = request;
  const body = await request.clone().text();
  if (
    preloaded.signature !== signature(headers.get("authorization"), headers.get("x-service-project-id"), body)
  ) {
    preloaded.abort.abort();
    return null;
  }
  if (request.signal.aborted) preloaded.abort.abort();
  else request.signal.addEventListener("abort", () => preloaded.abort.abort());
  return preloaded.response;
}
