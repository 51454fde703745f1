/** A request to the service, for rendering as code. */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type ApiRequest = {
  method: Method;
  /** From `/v1` on, without the query: "/v1/entities/search/customers". Already percent-encoded. */
  path: string;
  /** The query parameters. Undefined ones are left out. */
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** The project for the project header. */
  project?: string | null;
  /** Other headers, such as `If-Match`. */
  headers?: Readonly<Record<string, string>>;
  /** The JSON body. */
  body?: unknown;
  /** A text body of another type, such as CSV. */
  text?: { type: string; content: string };
  /** Whether the request needs no key, like `/healthz`. */
  isOpen?: boolean;
};

/** The query parameters that are set. */
export function queryOf(request: ApiRequest): [string, string][] {
  return Object.entries(request.query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
}

/** The address with its query. */
export function addressOf(base: string, request: ApiRequest): string {
  const query = new URLSearchParams(queryOf(request)).toString();
  return base + request.path + (query === "" ? "" : `?${query}`);
}
