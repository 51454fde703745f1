/** The rules of slugs, as the service has them. */
import { pageWords } from "../language/pages";

const t = pageWords.template;
const MOST = 63;

/** Names of standard fields and of columns that PostgreSQL gives to every table: no attribute may take them. */
const RESERVED = [
  ...["id", "template_id", "template_slug", "external_key", "created_at", "updated_at", "deleted_at"],
  ...["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
];

/** Why a text cannot be a slug; undefined if it can. */
export function slugFault(slug: string): string | undefined {
  if (slug === "") return t.slugEmpty;
  if (slug.length > MOST) return t.slugLong(slug.length, MOST);
  if (!/^[a-z]/.test(slug)) return t.slugBegins;
  return /^[a-z0-9_]*$/.test(slug) ? undefined : t.slugSigns;
}

/** Why a text cannot be the slug of an attribute beside others. */
export function attributeSlugFault(slug: string, others: readonly string[]): string | undefined {
  if (RESERVED.includes(slug)) return t.slugReserved(slug);
  if (others.includes(slug)) return t.slugTaken(slug);
  return slugFault(slug);
}

/** "Full name (Zürich)" → "full_name_zurich". Empty if the label has no letter that a slug can have. */
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
