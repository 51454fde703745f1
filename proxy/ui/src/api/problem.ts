/** Errors of requests. */
import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];
export type ProblemError = NonNullable<Problem["errors"]>[number];

/** A failed request. `problem` is missing if the service could not be reached. */
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

  /** The error message for a JSON pointer into the request, such as `/attributes/city`. */
  at(pointer: string): string | undefined {
    return this.problem?.errors?.find((error) => error.pointer === pointer)?.detail;
  }
}

type Sentences = { detail?: string; hint?: string; errors?: { pointer: string; detail: string }[] };

/** Text that ends as a statement to copy or as JSON. A full stop would become part of it. */
const ENDS_AS_STATEMENT = /[}\]]$|: [A-Z]{3,} [^.]*(?:\.[^\s.]+[^.]*)*$|\(\)$/;

/**
 * Turns a message of the service into a sentence. The service writes "must be a number", to follow a name.
 * A pointer at the beginning, such as `/attributes/tags/0: `, becomes the name of the field.
 */
export function asSentence(text: string): string {
  const sentence = text
    .trim()
    .replace(/^(?:\/[^\s/:]+)+: /, (pointer) => `${/([^\s/:]+)(?:\/\d+)*: $/.exec(pointer)?.[1] ?? ""}: `)
    .replace(/^external_key\b/, "the external key")
    // Capitalize a word, but not a name: `keyed`, `crm.customers`, `tags:`.
    .replace(/^(?!keyed\b)[a-z](?=[a-z'-]*(?:[\s,;]|$))/, (letter) => letter.toUpperCase());
  return sentence === "" || /[.!?…:]["”’)]*$/.test(sentence) || ENDS_AS_STATEMENT.test(sentence)
    ? sentence
    : `${sentence}.`;
}

/** The error and its hints as sentences, each hint after its error. */
export function inSentences<T extends Sentences>(rejection: T): T {
  const { detail, hint, errors } = rejection;
  const remedy = hint === undefined ? undefined : asSentence(hint);
  const whole = (text: string, at: number) =>
    at === 0 && remedy !== undefined ? `${asSentence(text)} ${remedy}` : asSentence(text);
  return {
    ...rejection,
    ...(detail !== undefined && { detail: whole(detail, 0) }),
    ...(errors && {
      errors: errors.map((error, at) => ({ ...error, detail: whole(error.detail, at) })),
    }),
  };
}

export function requestError(status: number, body: unknown): RequestError {
  const problem =
    typeof body === "object" && body !== null && "code" in body && "detail" in body
      ? inSentences(body as Problem)
      : null;
  return new RequestError(status, problem, problem?.detail ?? `The service responded with status ${status}.`);
}

/** The error as a sentence for users. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
