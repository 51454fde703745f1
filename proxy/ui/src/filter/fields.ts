/** The fields that a condition can use: attributes, standard fields, and both of referenced records. */
import type { Attribute, Template } from "../api/queries";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import { type Kind, kindOf } from "./operators";

export type Field = {
  /** The path in conditions: `city`, `artist.name`. */
  path: string;
  /** The display name: City, Artist › Name. */
  label: string;
  kind: Kind;
  /** Whether every record has a value. */
  isAlwaysSet?: boolean;
  /** The template with the field, the last of the path; null for a whole project. */
  owner: string | null;
  /** The last segment of the path. */
  slug: string;
  attribute?: Attribute;
  /** The template that a reference points to. */
  target?: string;
};

/** A map, because the name comes from an address and may be `constructor` or another inherited member. */
const STANDARD: ReadonlyMap<string, Kind> = new Map([
  ["external_key", "external_key"],
  ["created_at", "datetime"],
  ["updated_at", "datetime"],
  ["deleted_at", "datetime"],
  ["id", "id"],
  ["template_id", "template"],
  ["template_slug", "template"],
]);

/** The maximum number of references in a path. */
const MAX_STEPS = 3;
/** The maximum number of fields in the list. Others are found through references of references. */
const MAX_LISTED = 300;

const standard = (slug: string, owner: string | null): Field | null => {
  const kind = STANDARD.get(slug);
  if (kind === undefined) return null;
  const isAlwaysSet = kind !== "external_key";
  return { path: slug, label: messages.filter.standard[slug] ?? slug, kind, isAlwaysSet, owner, slug };
};

function own(attribute: Attribute, owner: string): Field {
  const { slug, template } = attribute;
  const field: Field = {
    path: slug,
    label: attributeLabel(attribute),
    kind: kindOf(attribute.type),
    owner,
    slug,
    attribute,
  };
  return template === undefined || template === null ? field : { ...field, target: template };
}

const behind = (reference: Field, field: Field): Field => ({
  ...field,
  path: `${reference.path}.${field.path}`,
  label: `${reference.label} › ${field.label}`,
});

export class Fields {
  private readonly known = new Map<string, Field | null>();

  /** @param template null for a whole project, whose conditions use only standard fields. */
  constructor(
    private readonly templates: readonly Template[],
    readonly template: string | null,
    /** Whether conditions on the deletion time are offered. */
    private readonly areDeleted = false,
  ) {}

  /** The field at a path; null if there is none, or if its template is not visible to the caller. */
  find(path: string): Field | null {
    let field = this.known.get(path);
    if (field === undefined) {
      field = this.resolve(path.split("."), this.template);
      this.known.set(path, field);
    }
    return field;
  }

  private resolve([slug = "", ...rest]: string[], owner: string | null): Field | null {
    const template = this.templates.find((it) => it.slug === owner);
    const attribute = template?.attributes.find((it) => it.slug === slug);
    const field = attribute && owner !== null ? own(attribute, owner) : standard(slug, owner);
    if (field === null || rest.length === 0) return field;
    if (field.target === undefined || rest.length > MAX_STEPS) return null;
    const end = this.resolve(rest, field.target);
    return end && behind(field, end);
  }

  /** The selectable fields: the external key and attributes of the template first, then those of referenced ones. */
  list(): { own: Field[]; standard: Field[]; behind: Field[] } {
    const template = this.templates.find((it) => it.slug === this.template);
    const all = template?.attributes.map((it) => own(it, template.slug)) ?? [];
    const found: Field[] = [];
    let references = all.filter((it) => it.target !== undefined);
    for (let step = 1; step <= MAX_STEPS; step++) {
      const next = references.flatMap((reference) => this.fieldsBehind(reference));
      if (found.length + next.length > MAX_LISTED) break;
      found.push(...next);
      references = next.filter((it) => it.target !== undefined);
    }
    const of = (slugs: string[]) => slugs.flatMap((slug) => standard(slug, this.template) ?? []);
    return {
      own: [...of(["external_key"]), ...all],
      standard: of([...(this.areDeleted ? ["deleted_at"] : []), "created_at", "updated_at", "id"]),
      behind: found,
    };
  }

  private fieldsBehind(reference: Field): Field[] {
    const target = this.templates.find((it) => it.slug === reference.target);
    if (!target) return [];
    const key = standard("external_key", target.slug);
    const fields = [...(key ? [key] : []), ...target.attributes.map((it) => own(it, target.slug))];
    return fields.map((field) => behind(reference, field));
  }
}
