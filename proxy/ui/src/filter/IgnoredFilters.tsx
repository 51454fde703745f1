import { useMemo } from "react";
import { Notice } from "../components/Notice";
import { words } from "../language";
import { decodeConditions, PARAMETER } from "./address";

/** Says that filters of an address are left out because they cannot be read. */
export function IgnoredFilters({ query }: { query: string }) {
  const ignored = useMemo(
    () => decodeConditions(new URLSearchParams(query).getAll(PARAMETER)).ignored,
    [query],
  );
  if (ignored.length === 0) return null;
  return (
    <Notice kind="attention">
      {words.filter.ignored(ignored.length)} <code dir="auto">{ignored.join(" ")}</code>
    </Notice>
  );
}
