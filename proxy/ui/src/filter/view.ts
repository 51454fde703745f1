/** Saved views: searches with a name. */
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { bodyOf, DELETE, GET, inProject, POST, PUT } from "../api/client";
import { queryClient, type View } from "../api/queries";
import { currentSession, useSession } from "../session/session";
import { conditionsOfSearch, containDay, isSame, renamed, slugPath } from "./condition";

export type SavedSearch = Schemas["SavedSearch"];

/** Members that affect how a search runs, not what it finds. A list sets them itself. */
const EXECUTION_MEMBERS = ["limit", "cursor", "count", "facets", "verbose", "view", "fuzzy"] as const;

const listed = (value: unknown): unknown =>
  typeof value === "string"
    ? value
        .split(",")
        .map((part) => part.trim())
        .filter(Boolean)
    : (value ?? []);

/** `"-year"` and `{field: "year", direction: "desc"}` are equivalent. */
function sortOf(sort: unknown): unknown {
  const parts = listed(sort);
  if (!Array.isArray(parts)) return parts;
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const { field, direction = "asc", nulls = "last" } = part;
    const text = direction === "desc" ? `-${field}` : field;
    return nulls === "last" ? text : [text, nulls];
  });
}

/** A search in normal form. */
function normal(search: SavedSearch): unknown {
  const { filters: _, filter_groups: __, fields, sort, mode, time_zone: zone, ...rest } = search;
  const conditions = conditionsOfSearch(search);
  const others = Object.fromEntries(
    Object.entries(rest).filter(
      ([name, value]) =>
        !EXECUTION_MEMBERS.includes(name as (typeof EXECUTION_MEMBERS)[number]) &&
        value !== null &&
        value !== "" &&
        !(name === "attribute_key" && value === "slug"),
    ),
  );
  return {
    ...others,
    ...(mode === undefined || mode === "keyword" ? {} : { mode }),
    // The time zone matters only if a condition contains a day.
    ...(zone && containDay(conditions) ? { zone } : {}),
    conditions,
    fields: listed(fields),
    sort: sortOf(sort),
  };
}

/** Whether two searches find the same records and show them in the same way. */
export const isSameSearch = (a: SavedSearch, b: SavedSearch): boolean => isSame(normal(a), normal(b));

/** Replaces attribute ids by slugs in a search. Other searches stay unchanged. */
export function bySlug(search: SavedSearch, templates: Parameters<typeof slugPath>[0]): SavedSearch {
  const { attribute_key: key, filters: _, filter_groups: __, sort, fields, ...rest } = search;
  if (key !== "id") return search;
  const name = slugPath(templates);
  const sorted = (part: string) => (part.startsWith("-") ? `-${name(part.slice(1))}` : name(part));
  const parts = typeof sort === "string" ? (listed(sort) as string[]) : sort;
  return {
    ...rest,
    filters: conditionsOfSearch(search).map((it) => renamed(it, name)) as NonNullable<SavedSearch["filters"]>,
    ...(parts && {
      sort: parts.map((it) => (typeof it === "string" ? sorted(it) : { ...it, field: name(it.field) })),
    }),
    ...(fields && { fields: (listed(fields) as string[]).map(name) }),
  };
}

/** The body to save for a list. Members that the list does not set are kept. */
export function searchToSave(shown: SavedSearch, saved?: SavedSearch): SavedSearch {
  // Semantic searches reject it.
  const fuzzy = shown.mode === undefined ? ["fuzzy"] : [];
  const names = ["limit", "count", "facets", "verbose", "time_zone", ...fuzzy];
  const kept = Object.entries(saved ?? {}).filter(([name]) => names.includes(name));
  const { cursor: _, view: __, ...rest } = shown;
  return { ...Object.fromEntries(kept), ...rest };
}

/** A slug for a label: "Réguliers, Bern" → reguliers_bern. */
export function slugFor(label: string): string {
  const plain = label
    .normalize("NFD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "");
  return plain.slice(0, 63);
}

export const isSlug = (text: string): boolean => /^[a-z][a-z0-9_]{0,62}$/.test(text);

export const viewName = ({ label, slug }: Pick<View, "label" | "slug">): string => label || slug;

const viewsKey = (key: string | null, project: string, template: string) => [key, "views", project, template];

const byName = new Intl.Collator();

/** The saved views of a template, by name. */
export function useViews(project: string, template: string) {
  const { key } = useSession();
  return useQuery({
    queryKey: viewsKey(key, project, template),
    queryFn: async () => {
      const params = { path: { template }, header: inProject(project) };
      return (await bodyOf(GET("/v1/templates/{template}/views", { params }))).views;
    },
    select: (views) => views.toSorted((a, b) => byName.compare(viewName(a), viewName(b))),
    staleTime: 60_000,
  });
}

const refresh = (project: string, template: string) =>
  queryClient.invalidateQueries({ queryKey: viewsKey(currentSession().key, project, template) });

type NewView = { slug: string; label: string | null; query: SavedSearch; presentation?: boolean };

/** @throws RequestError, `conflict` if a view has this slug. */
export async function createView(project: string, template: string, view: NewView): Promise<View> {
  const params = { path: { template }, header: inProject(project) };
  const made = await bodyOf(POST("/v1/templates/{template}/views", { params, body: view }));
  await refresh(project, template);
  return made;
}

/** @throws RequestError */
export async function saveView(project: string, template: string, view: NewView): Promise<View> {
  const { slug, ...body } = view;
  const params = { path: { template, slug }, header: inProject(project) };
  const saved = await bodyOf(PUT("/v1/templates/{template}/views/{slug}", { params, body }));
  await refresh(project, template);
  return saved;
}

/** @throws RequestError */
export async function deleteView(project: string, template: string, slug: string): Promise<void> {
  const params = { path: { template, slug }, header: inProject(project) };
  await bodyOf(DELETE("/v1/templates/{template}/views/{slug}", { params }));
  await refresh(project, template);
}
