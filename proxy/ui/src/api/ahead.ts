/**
 * Requests that are sent while the code that asks for their answers is still on its way.
 *
 * The same request soon afterwards gets that answer. Of an address, one request is kept: another one of the same
 * address, such as another search, aborts it.
 */

export type AheadRequest = {
  method: "GET" | "POST";
  /** With the query, if it has one. */
  path: string;
  project: string;
  key: string;
  body?: string;
};

type Sent = { signature: string; response: Promise<Response>; abort: AbortController };

/** An answer that is older than so many milliseconds is discarded. */
const LIFETIME = 10_000;

const sent = new Map<string, Sent>();

const signature = (authorization: string | null, project: string | null, body: string): string =>
  JSON.stringify([authorization, project, body]);

export function sendAhead({ method, path, project, key, body }: AheadRequest) {
  const authorization = `Bearer ${key}`;
  const headers: Record<string, string> = { authorization, "X-Service-Project-Id": project };
  if (body !== undefined) headers["content-type"] = "application/json";
  const abort = new AbortController();
  const response = fetch(path, {
    method,
    headers,
    signal: abort.signal,
    ...(body === undefined ? {} : { body }),
  });
  // The caller that takes the answer handles the failure.
  response.catch(() => {});
  const place = `${method} ${path}`;
  sent.set(place, { signature: signature(authorization, project, body ?? ""), response, abort });
  setTimeout(() => forget(place), LIFETIME);
}

function forget(place: string) {
  sent.get(place)?.abort.abort();
  sent.delete(place);
}

/** The response to this very request, if it was sent ahead; null if it is still to be sent. */
export async function takeAhead(request: Request): Promise<Response | null> {
  if (sent.size === 0) return null;
  const { pathname, search } = new URL(request.url);
  const place = `${request.method} ${pathname}${search}`;
  const ahead = sent.get(place);
  if (ahead === undefined) return null;
  sent.delete(place);
  const { headers } = request;
  const body = await request.clone().text();
  if (
    ahead.signature !== signature(headers.get("authorization"), headers.get("x-service-project-id"), body)
  ) {
    ahead.abort.abort();
    return null;
  }
  if (request.signal.aborted) ahead.abort.abort();
  else request.signal.addEventListener("abort", () => ahead.abort.abort());
  return ahead.response;
}
