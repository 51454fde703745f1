/** Validates slugs as the service does. */
import { pageMessages } from "../language/pages";

const t = pageMessages.template;
const MAX_LENGTH = 63;

/** Names of standard fields and of PostgreSQL's system columns. No attribute can have them. */
const RESERVED = [
  ...["id", "template_id", "template_slug", "external_key", "created_at", "updated_at", "deleted_at"],
  ...["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
];

/** Why text is not a valid slug; undefined if it is. */
export function slugError(slug: string): string | undefined {
  if (slug === "") return t.slugEmpty;
  if (slug.length > MAX_LENGTH) return t.slugLong(slug.length, MAX_LENGTH);
  if (!/^[a-z]/.test(slug)) return t.slugBegins;
  return /^[a-z0-9_]*$/.test(slug) ? undefined : t.slugSigns;
}

/** Why text is not a valid slug for an attribute, considering the other ones. */
export function attributeSlugError(slug: string, others: readonly string[]): string | undefined {
  if (RESERVED.includes(slug)) return t.slugReserved(slug);
  if (others.includes(slug)) return t.slugTaken(slug);
  return slugError(slug);
}

/** "Full name (Zürich)" → "full_name_zurich". Empty if no character of the label can be part of a slug. */
export function slugOf(label: string): string {
  return label
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .replace(/ß/g, "ss")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "")
    .slice(0, MAX_LENGTH)
    .replace(/_+$/, "");
}
