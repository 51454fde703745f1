import { useMemo } from "react";
import { Notice } from "../components/Notice";
import { messages } from "../language";
import { decodeConditions, PARAMETER } from "./address";

/** Reports invalid filters in the address, which are ignored. */
export function IgnoredFilters({ query }: { query: string }) {
  const ignored = useMemo(
    () => decodeConditions(new URLSearchParams(query).getAll(PARAMETER)).ignored,
    [query],
  );
  if (ignored.length === 0) return null;
  return (
    <Notice kind="attention">
      {messages.filter.ignored(ignored.length)} <code dir="auto">{ignored.join(" ")}</code>
    </Notice>
  );
}
