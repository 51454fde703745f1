/** Errors of the service at their fields. */
import { RequestError, sentence } from "../api/problem";

/** The error of a field, or of a part of it such as the second element of a list. */
export function errorAt(error: unknown, slug: string): string | undefined {
  if (!(error instanceof RequestError)) return undefined;
  const pointer = `/attributes/${slug}`;
  return error.problem?.errors?.find((it) => it.pointer === pointer || it.pointer.startsWith(`${pointer}/`))
    ?.detail;
}

/** The error of a field that was sent separately; without a pointer, the whole problem. */
export const errorOf = (error: unknown, slug: string): string => errorAt(error, slug) ?? sentence(error);

/** The error of an external key. */
export function keyError(error: unknown): string {
  return (error instanceof RequestError && error.at("/external_key")) || sentence(error);
}
