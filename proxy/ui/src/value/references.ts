/** Loads referenced records, and records to choose from. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bodyOf, GET, inProject, POST, type Schemas } from "../api/client";
import type { Json } from "../api/json";
import { type RecordBody, useTemplate } from "../api/queries";
import { useSession } from "../session/session";
import { textOf } from "./exact";

export type Target = { id: string; name: string; key: string | null };

type Display = string | null | undefined;

/** The name of a record: its display attribute, its key or its id. */
export function targetOf(record: RecordBody, display: Display): Target {
  const named = display ? textOf(record.attributes?.[display] as Json | undefined) : "";
  return { id: record.id, name: named || record.external_key || record.id, key: record.external_key };
}

const fieldsOf = (display: Display) => (display ? [display] : ["id"]);

/** The record with this id. */
export function useReference(project: string, template: string, id: string | null) {
  const { key } = useSession();
  const display = useTemplate(project, template)?.display;
  return useQuery({
    queryKey: [key, "reference", project, id, display],
    queryFn: async () => {
      const query = { fields: fieldsOf(display).join(","), include_deleted: true };
      const params = { path: { id: id ?? "" }, query };
      return targetOf(await bodyOf(GET("/v1/entities/{id}", { params })), display);
    },
    enabled: id !== null,
    staleTime: 60_000,
  });
}

/** The text after the user has paused typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** The records of a template that match the text. The record with exactly this key comes first. */
export function useTargets(project: string, template: string, text: string, isEnabled: boolean) {
  const { key } = useSession();
  const display = useTemplate(project, template)?.display;
  const words = useSettled(text).trim().slice(0, 255);
  const search = async (body: Schemas["Search"], signal: AbortSignal) => {
    const found = await bodyOf(
      POST("/v1/entities/search/{template}", {
        params: { path: { template }, header: inProject(project) },
        body: { ...body, fields: fieldsOf(display), limit: 20, count: "none" },
        signal,
      }),
    );
    return found.records.map((record) => targetOf(record, display));
  };
  return useQuery({
    queryKey: [key, "targets", project, template, words, display],
    queryFn: async ({ signal }) => {
      if (words === "") return search(display ? { sort: display } : {}, signal);
      const [byKey, byWords] = await Promise.all([
        search({ filters: [{ field: "external_key", operator: "eq", value: words }] }, signal),
        search({ global_search: words }, signal),
      ]);
      return [...byKey, ...byWords.filter((it) => it.id !== byKey[0]?.id)];
    },
    enabled: isEnabled && template !== "",
    placeholderData: keepPreviousData,
  });
}
