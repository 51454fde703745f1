/** Errors of single conditions, from the service. */
import { RequestError } from "../api/problem";

const PLACE = /^(?:\/scope|\/filter)?\/filters\/(\d+)(?:\/|$)/;

/** The error of each rejected condition of `filters`, by index; undefined if none is rejected. */
export function faultsOfFilters(error: unknown): (string | undefined)[] | undefined {
  if (!(error instanceof RequestError)) return undefined;
  const faults: (string | undefined)[] = [];
  for (const { pointer, detail } of error.problem?.errors ?? []) {
    const index = PLACE.exec(pointer ?? "")?.[1];
    if (index !== undefined) faults[Number(index)] ??= detail;
  }
  return faults.length > 0 ? faults : undefined;
}
