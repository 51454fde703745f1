/** The existing or possible values of a field, to choose from. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bodyOf, inProject, POST } from "../api/client";
import type { Json } from "../api/json";
import { useSession } from "../session/session";
import { textOf } from "../value/exact";
import { useTargets } from "../value/references";
import type { Condition } from "./condition";
import type { Field } from "./fields";

export type Choice = { value: Json; label: string; hint?: string; count?: number };

/** A frequent value of a field, with its record count. */
export type FacetValue = {
  value: Json;
  count: number;
  label?: string | null;
  display?: string | null;
  external_key?: string | null;
};

export const facetLabel = (it: FacetValue): string =>
  it.label || it.display || it.external_key || textOf(it.value);

/** The most frequent values of a field. */
export async function fetchFacet(
  project: string,
  template: string,
  slug: string,
  search: { filters?: Condition[]; time_zone?: string; global_search?: string; fuzzy?: "auto" },
  signal: AbortSignal,
): Promise<FacetValue[]> {
  const body = { ...search, facets: [slug], fields: ["id"], limit: 1, count: "none" as const };
  const found = await bodyOf(
    POST("/v1/entities/search/{template}", {
      params: { path: { template }, header: inProject(project) },
      body,
      signal,
    }),
  );
  return (found.facets?.[slug] ?? []) as FacetValue[];
}

/** Longer text values are not offered as choices. */
const MAX_CHOICE_LENGTH = 60;

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export type Choices = { items: Choice[]; isLoading: boolean; error: unknown };

/** The values of a field that match the typed text. */
export function useChoices(project: string, field: Field, text: string): Choices {
  const { key } = useSession();
  const isReference = field.kind === "reference";
  const options = field.attribute?.options;
  const counts = !isReference && (field.kind === "string" || (field.kind === "list" && !options));
  const settled = useSettled(text).trim().slice(0, 255);
  const isTyping = settled !== text.trim().slice(0, 255);
  const words = field.kind === "string" ? settled : "";
  const facet = useQuery({
    queryKey: [key, "choices", project, field.owner, field.slug, words],
    queryFn: ({ signal }) => {
      const filters: Condition[] =
        words === "" ? [] : [{ field: field.slug, operator: "ilike", value: words }];
      return fetchFacet(project, field.owner ?? "", field.slug, { filters }, signal);
    },
    enabled: counts && field.owner !== null,
    placeholderData: keepPreviousData,
  });
  const targets = useTargets(project, field.target ?? "", text, isReference);

  const matches = (label: string) => label.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase());
  if (isReference) {
    const items = (targets.data ?? []).map((it) => ({
      value: it.id,
      label: it.name,
      ...(it.key !== null && it.key !== it.name ? { hint: it.key } : {}),
    }));
    return { items, isLoading: targets.isFetching || isTyping, error: targets.error };
  }
  if (options) {
    const items = options.map((it) => ({ value: it.value, label: it.label || it.value }));
    return { items: items.filter((it) => matches(it.label)), isLoading: false, error: null };
  }
  if (!counts) return { items: [], isLoading: false, error: null };
  const items = (facet.data ?? [])
    .map((it) => ({ value: it.value, label: facetLabel(it), count: it.count }))
    .filter((it) => it.label.length <= MAX_CHOICE_LENGTH && it.label !== "" && matches(it.label));
  return { items, isLoading: facet.isFetching || isTyping, error: facet.error };
}
