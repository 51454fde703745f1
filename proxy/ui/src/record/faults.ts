/** The server's refusals beside their fields. */
import { RequestError, sentence } from "../api/problem";

/** The fault of a field, or of a part of it such as the second element of a list. */
export function faultOf(error: unknown, slug: string): string {
  const pointer = `/attributes/${slug}`;
  const fault =
    error instanceof RequestError
      ? error.problem?.errors?.find((it) => it.pointer === pointer || it.pointer.startsWith(`${pointer}/`))
      : undefined;
  return fault?.detail ?? sentence(error);
}

/** The fault of an external key. */
export function keyFault(error: unknown): string {
  return (error instanceof RequestError && error.at("/external_key")) || sentence(error);
}
