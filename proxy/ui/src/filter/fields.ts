/** The fields that a condition may name: attributes, standard fields, and both of referenced records. */
import type { Attribute, Template } from "../api/queries";
import { attributeLabel } from "../format/label";
import { words } from "../language";
import { type Kind, kindOf } from "./operators";

export type Field = {
  /** As conditions name it: `city`, `artist.name`. */
  path: string;
  /** As people name it: City, Artist › Name. */
  label: string;
  kind: Kind;
  /** Whether every record has a value. */
  isAlwaysSet?: boolean;
  /** The template that has the field, the last of the path; null for a whole project. */
  owner: string | null;
  /** The last part of the path. */
  slug: string;
  attribute?: Attribute;
  /** The template that a reference points to. */
  target?: string;
};

/** Looked up by what an address says, which may be the name of a member that every object has. */
const STANDARD: ReadonlyMap<string, Kind> = new Map([
  ["external_key", "external_key"],
  ["created_at", "datetime"],
  ["updated_at", "datetime"],
  ["deleted_at", "datetime"],
  ["id", "id"],
  ["template_id", "template"],
  ["template_slug", "template"],
]);

/** References that a path may follow. */
const MAX_STEPS = 3;
/** Fields that the list of attributes shows at most; others are reached through references of references. */
const MAX_LISTED = 300;

const standard = (slug: string, owner: string | null): Field | null => {
  const kind = STANDARD.get(slug);
  if (kind === undefined) return null;
  const isAlwaysSet = kind !== "external_key";
  return { path: slug, label: words.filter.standard[slug] ?? slug, kind, isAlwaysSet, owner, slug };
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

  /** @param template null stands for a whole project, whose conditions know only the standard fields. */
  constructor(
    private readonly templates: readonly Template[],
    readonly template: string | null,
    /** Whether conditions on the time of a deletion are offered. */
    private readonly areDeleted = false,
  ) {}

  /** The field of a path; null if there is none, or if the caller may not know its template. */
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

  /** The fields to choose from: the external key and those of the template first, then those of referenced templates. */
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
