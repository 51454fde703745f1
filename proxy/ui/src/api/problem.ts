/** What the service refuses, and what keeps it from answering. */
import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];
export type Fault = NonNullable<Problem["errors"]>[number];

/** A request that failed. `problem` is missing where the service could not be reached. */
export class RequestError extends Error {
  override readonly name = "RequestError";

  constructor(
    readonly status: number,
    readonly problem: Problem | null,
    message: string,
  ) {
    super(message);
  }

  /** Whether the service could not be reached at all. */
  get isOffline(): boolean {
    return this.status === 0;
  }

  get code(): string {
    return this.problem?.code ?? (this.isOffline ? "offline" : "");
  }

  /** The sentence for a place in the request, as a JSON pointer such as `/attributes/city`. */
  at(pointer: string): string | undefined {
    return this.problem?.errors?.find((fault) => fault.pointer === pointer)?.detail;
  }
}

export function requestError(status: number, body: unknown): RequestError {
  const problem =
    typeof body === "object" && body !== null && "code" in body && "detail" in body
      ? (body as Problem)
      : null;
  return new RequestError(status, problem, problem?.detail ?? `The service answered ${status}.`);
}

/** What went wrong, as a sentence for people. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
