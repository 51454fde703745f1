/** A request to the service, as the code of a program shows it. */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type ApiRequest = {
  method: Method;
  /** From `/v1` on, without the query: "/v1/entities/search/customers". Its parts are percent-encoded already. */
  path: string;
  /** The parameters of the query; what is undefined is left out. */
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** The project that its header names. */
  project?: string | null;
  /** Further headers, such as `If-Match`. */
  headers?: Readonly<Record<string, string>>;
  /** The body: JSON. */
  body?: unknown;
  /** The body as a text of another type, such as CSV. */
  text?: { type: string; content: string };
  /** Whether the request goes without a key, as for `/healthz`. */
  isOpen?: boolean;
};

/** The parameters of the query that are set. */
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
