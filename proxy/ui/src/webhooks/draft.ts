/** The definition of an endpoint while it is edited. */
import type { Schemas } from "../api/client";
import { type Condition, conditionsOfScope, isSame } from "../filter/condition";
import type { Endpoint } from "./queries";

export type Operation = NonNullable<NonNullable<Schemas["NewWebhookEndpoint"]["operations"]>[number]>;

export const OPERATIONS: readonly Operation[] = ["create", "update", "delete", "restore", "gone"];

export type Draft = {
  slug: string;
  url: string;
  /** Null for all. */
  templates: string[] | null;
  operations: Operation[] | null;
  /** Null for all records. */
  conditions: Condition[] | null;
  /** Empty for the role of the caller. */
  role: string;
  includeRecord: boolean;
};

export const NEW: Draft = {
  slug: "",
  url: "",
  templates: null,
  operations: null,
  conditions: null,
  role: "",
  includeRecord: false,
};

export function draftOf(endpoint: Endpoint): Draft {
  const { slug, url, templates, operations, filter, role, include_record } = endpoint;
  return {
    slug,
    url,
    templates: templates ?? null,
    operations: operations ?? null,
    conditions: filter == null ? null : conditionsOfScope(filter),
    role: role ?? "",
    includeRecord: include_record ?? false,
  };
}

/** Whether records can be filtered, which requires exactly one template. */
export const mayFilter = ({ templates }: Draft): boolean => templates?.length === 1;

/** Whether all required fields are set. */
export const isComplete = ({ templates, operations, conditions }: Draft): boolean =>
  templates?.length !== 0 && operations?.length !== 0 && conditions?.length !== 0;

type Members = Pick<
  Schemas["NewWebhookEndpoint"],
  "slug" | "url" | "templates" | "operations" | "filter" | "role" | "include_record"
>;

/** The request body. */
export function membersOf(draft: Draft): Members {
  const { templates, operations, conditions, role, includeRecord } = draft;
  return {
    slug: draft.slug.trim(),
    url: draft.url.trim(),
    templates,
    operations: operations && OPERATIONS.filter((it) => operations.includes(it)),
    filter: conditions && mayFilter(draft) ? { filters: conditions } : null,
    role: role === "" ? null : role,
    include_record: includeRecord,
  } as Members;
}

/** The members that differ from the saved endpoint. */
export function changesOf(draft: Draft, saved: Draft): Partial<Members> {
  const before = membersOf(saved);
  const changed = Object.entries(membersOf(draft)).filter(
    ([name, value]) => !isSame(value, before[name as keyof Members]),
  );
  return Object.fromEntries(changed);
}
