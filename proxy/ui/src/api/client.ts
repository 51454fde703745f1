/** Requests to the service, typed by its OpenAPI document. */
import createClient from "openapi-fetch";
import { askForFreshness, learnPosition } from "../session/position";
import { anotherKey, currentSession, markRejected } from "../session/session";
import { parseJson, renderJson } from "./json";
import { takePreloaded } from "./preload";
import { RequestError, requestError } from "./problem";
import { isFromService, setReachable } from "./reachability";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** Parses a response body without losing digits of numbers. */
async function lossless(response: Response): Promise<Response> {
  if (!(response.headers.get("content-type") ?? "").includes("json")) return response;
  const text = await response.text();
  const headers = new Headers(response.headers);
  // If the length of the body is known, the client calls `json()`.
  headers.set("content-length", String(text.length));
  const { status, statusText } = response;
  const copy = new Response(text === "" ? null : text, { status, statusText, headers });
  copy.json = async () => parseJson(text);
  return copy;
}

/** Whether the request can be sent twice without buffering a large file. */
function isShort(request: Request): boolean {
  const type = request.headers.get("content-type");
  return type === null || type.includes("json");
}

/** The message for a request that did not reach the service. */
export const OFFLINE = "The service cannot be reached. Your changes are kept. Try again.";

async function reach(request: Request): Promise<Response> {
  const unreachable = () => new RequestError(0, null, OFFLINE);
  let response: Response;
  try {
    response = (await takePreloaded(request)) ?? (await fetch(request));
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    setReachable(false);
    throw unreachable();
  }
  setReachable(isFromService(response));
  if (!isFromService(response)) throw unreachable();
  learnPosition(response);
  return response;
}

/**
 * Sends a request with the API key of the session. If the key is rejected, the request waits for another key and is
 * sent again. The rejected request had no effect, and the waiting page keeps its input.
 *
 * @throws RequestError if the service cannot be reached.
 */
export async function send(request: Request): Promise<Response> {
  if (request.headers.has("authorization")) return reach(request);
  for (;;) {
    const { key } = currentSession();
    if (key === null) return reach(request);
    const signed = isShort(request) ? request.clone() : request;
    signed.headers.set("authorization", `Bearer ${key}`);
    signed.headers.set("x-keyed-source", "app");
    askForFreshness(signed.headers);
    const response = await reach(signed);
    if (response.status !== 401) return response;
    markRejected(key);
    if (signed === request || !(await anotherKey(key, request.signal))) return response;
  }
}

const client = createClient<paths>({
  fetch: async (request: Request) => lossless(await send(request)),
  bodySerializer: renderJson,
});

/** The client for one project. Each call returns `{data, error, response}`; pass it to `bodyOf`. */
export const { GET, POST, PUT, PATCH, DELETE } = client;

/** The header that specifies a project. */
export const inProject = (project: string) => ({ "X-Service-Project-Id": project });

/** The body of a response. @throws RequestError if the service rejected the request. */
export async function bodyOf<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> {
  const { data, error, response } = await call;
  if (!response.ok) throw requestError(response.status, error);
  return data as NonNullable<T>;
}

/** The body and the entity tag of a response with one record. @throws RequestError */
export async function bodyAndTagOf<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<{ body: NonNullable<T>; tag: string | null }> {
  const awaited = await call;
  const body = await bodyOf(Promise.resolve(awaited));
  return { body, tag: awaited.response.headers.get("etag") };
}
