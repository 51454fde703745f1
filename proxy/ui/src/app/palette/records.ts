/** The records whose key equals the typed text. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bodyOf, inProject, POST } from "../../api/client";
import { isLosslessNumber } from "../../api/json";
import type { Template } from "../../api/queries";
import { useSession } from "../../session/session";

/** The maximum number of templates to look in, the open one first. */
const MAX_TEMPLATES = 10;
const PAUSE = 120;

export type FoundRecord = { id: string; template: Template; key: string; name: string };

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

async function lookUp(project: string, template: Template, key: string, signal: AbortSignal) {
  const params = { path: { template: template.slug }, header: inProject(project) };
  const fields = template.display ? [template.display] : [];
  const body = {
    filters: [{ field: "external_key", operator: "eq" as const, value: key }],
    fields,
    limit: 1,
  };
  const found = await bodyOf(POST("/v1/entities/search/{template}", { params, body, signal }));
  return found.records.map((record): FoundRecord => {
    const name = template.display ? record.attributes?.[template.display] : null;
    const isShort = typeof name === "string" || typeof name === "number" || isLosslessNumber(name);
    return { id: record.id, template, key: record.external_key ?? key, name: isShort ? String(name) : "" };
  });
}

/** Looks the key up in all templates of the project concurrently. A template that rejects the lookup has no match. */
export function useRecordsWithKey(project: string, templates: readonly Template[], typed: string) {
  const { key } = useSession();
  const text = useSettled(typed.trim());
  const searched = templates.slice(0, MAX_TEMPLATES);
  const records = useQuery({
    queryKey: [key, "palette", project, searched.map(({ slug }) => slug), text],
    queryFn: async ({ signal }) => {
      const found = await Promise.allSettled(
        searched.map((template) => lookUp(project, template, text, signal)),
      );
      return found.flatMap((it) => (it.status === "fulfilled" ? it.value : []));
    },
    enabled: key !== null && text !== "" && searched.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const isCurrent = typed.trim() === text;
  return {
    records: text === "" ? [] : (records.data ?? []).filter((it) => it.key === typed.trim()),
    isSearching: typed.trim() !== "" && (!isCurrent || records.isFetching),
  };
}
