/** Errors of single conditions, from the service. */
import { RequestError } from "../api/problem";

const POINTER = /^(?:\/scope|\/filter)?\/filters\/(\d+)(?:\/|$)/;

/** The error of each rejected condition of `filters`, by index; undefined if none is rejected. */
export function errorsOfFilters(error: unknown): (string | undefined)[] | undefined {
  if (!(error instanceof RequestError)) return undefined;
  const errors: (string | undefined)[] = [];
  for (const { pointer, detail } of error.problem?.errors ?? []) {
    const index = POINTER.exec(pointer ?? "")?.[1];
    if (index !== undefined) errors[Number(index)] ??= detail;
  }
  return errors.length > 0 ? errors : undefined;
}
