/** Validates slugs as the service does. */
import { pageWords } from "../language/pages";

const t = pageWords.template;
const MOST = 63;

/** Names of standard fields and of PostgreSQL's system columns. No attribute can have them. */
const RESERVED = [
  ...["id", "template_id", "template_slug", "external_key", "created_at", "updated_at", "deleted_at"],
  ...["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
];

/** Why text is not a valid slug; undefined if it is. */
export function slugFault(slug: string): string | undefined {
  if (slug === "") return t.slugEmpty;
  if (slug.length > MOST) return t.slugLong(slug.length, MOST);
  if (!/^[a-z]/.test(slug)) return t.slugBegins;
  return /^[a-z0-9_]*$/.test(slug) ? undefined : t.slugSigns;
}

/** Why text is not a valid slug for an attribute, considering the other ones. */
export function attributeSlugFault(slug: string, others: readonly string[]): string | undefined {
  if (RESERVED.includes(slug)) return t.slugReserved(slug);
  if (others.includes(slug)) return t.slugTaken(slug);
  return slugFault(slug);
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
    .slice(0, MOST)
    .replace(/_+$/, "");
}
