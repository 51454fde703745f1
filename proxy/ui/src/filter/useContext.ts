/** The data that sentences and editors of conditions need from the service. */
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { bodyOf, inProject, POST } from "../api/client";
import type { Json } from "../api/json";
import { type Template, useTemplates } from "../api/queries";
import { useSession } from "../session/session";
import { targetOf } from "../value/references";
import { type Condition, comparisonsOf, valuesOf } from "./condition";
import { Fields } from "./fields";
import type { Context } from "./sentence";

const NONE: Template[] = [];

function useFields(project: string, template: string | null, areDeleted: boolean): Fields {
  const templates = useTemplates(project).data ?? NONE;
  return useMemo(() => new Fields(templates, template, areDeleted), [templates, template, areDeleted]);
}

/** The maximum number of records per template whose names are requested. */
const MAX_NAMES = 200;

/** The record ids in conditions, by template. */
function idsOf(conditions: readonly Condition[], fields: Fields): Map<string, string[]> {
  const found = new Map<string, Set<string>>();
  for (const comparison of comparisonsOf(conditions)) {
    const target = fields.find(comparison.field)?.target;
    if (target === undefined) continue;
    const ids = (valuesOf(comparison) ?? []).filter((value) => typeof value === "string");
    found.set(target, new Set([...(found.get(target) ?? []), ...ids]));
  }
  return new Map([...found].map(([target, ids]) => [target, [...ids].sort().slice(0, MAX_NAMES)]));
}

/** The names of the records in conditions, by id. Names that are still loading are "…". */
function useNames(
  project: string,
  conditions: readonly Condition[],
  fields: Fields,
): ReadonlyMap<string, string> {
  const { key } = useSession();
  const templates = useTemplates(project).data ?? NONE;
  const requested = [...idsOf(conditions, fields)].filter(([, ids]) => ids.length > 0);
  return useQueries({
    queries: requested.map(([target, ids]) => {
      const display = templates.find((it) => it.slug === target)?.display;
      return {
        queryKey: [key, "names", project, target, display, ids],
        queryFn: async () => {
          const filters = [{ field: "id", operator: "in" as const, value: ids as Json[] }];
          const { records } = await bodyOf(
            POST("/v1/entities/search/{template}", {
              params: { path: { template: target }, header: inProject(project) },
              body: { filters, fields: display ? [display] : ["id"], limit: ids.length },
            }),
          );
          return records.map((record) => targetOf(record, display));
        },
        staleTime: 60_000,
      };
    }),
    combine: (results) =>
      new Map(
        results.flatMap((result, at) => {
          if (result.isPending) return (requested[at]?.[1] ?? []).map((id) => [id, "…"] as const);
          return (result.data ?? []).map((it) => [it.id, it.name] as const);
        }),
      ),
  });
}

/** The data for the sentences of these conditions. */
export function useSentences(
  project: string,
  template: string | null,
  conditions: readonly Condition[],
  areDeleted = false,
): Context {
  const fields = useFields(project, template, areDeleted);
  const names = useNames(project, conditions, fields);
  return { fields, names };
}
