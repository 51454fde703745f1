import { useEffect } from "react";
import { useLocation } from "wouter";
import { addresses } from "../navigation/addresses";
import type { Found } from "./useFound";

/** The next page is requested when this many loaded records are left. */
const PREFETCH_DISTANCE = 20;

/** Functions that open the previous and the next record of the list. The back button still leads to the list. */
export function useSteps(project: string, template: string, found: Found, open: string | null) {
  const [, navigate] = useLocation();
  const { records, more } = found;
  const at = open === null ? -1 : records.findIndex(({ id }) => id === open);
  const isNearEnd = at >= 0 && at >= records.length - PREFETCH_DISTANCE;
  useEffect(() => {
    if (isNearEnd) more();
  }, [isNearEnd, more]);
  const to = (index: number) => {
    const record = at < 0 ? undefined : records[index];
    if (record === undefined) return null;
    return () =>
      navigate(addresses.record(project, template, record.id) + window.location.search, { replace: true });
  };
  return { previous: to(at - 1), next: to(at + 1) };
}
