/** The draft of an attribute, and the request to create or change it. */

import type { Schemas } from "../api/client";
import type { Json } from "../api/json";
import type { RequestError } from "../api/problem";
import type { Attribute, Template } from "../api/queries";
import type { Format } from "../format/number";
import { pageMessages } from "../language/pages";
import { attributeSlugError } from "./slug";

const t = pageMessages.template;

export type AttributeType = Exclude<Attribute["type"], "dimension">;

export const TYPES: readonly AttributeType[] = [
  "string",
  "number",
  "date",
  "datetime",
  "boolean",
  "list",
  "reference",
  "metric",
];

export type Option = { value: string; label: string };

export type Draft = {
  label: string;
  slug: string;
  type: AttributeType;
  required: boolean;
  indexed: boolean;
  /** Null: the list accepts any value. */
  options: Option[] | null;
  /** The slug of the referenced template. */
  target: string | null;
  default: Json;
  /** The display format of values; null for the default of their type. */
  format: Format | null;
};

export const EMPTY: Draft = {
  label: "",
  slug: "",
  type: "string",
  required: false,
  indexed: false,
  options: null,
  target: null,
  default: null,
  format: null,
};

export function draftOf(attribute: Attribute): Draft {
  const { label, slug, type, required, indexed, options, template, format } = attribute;
  return {
    label: label ?? "",
    slug,
    type: type === "dimension" ? "string" : type,
    required,
    indexed,
    options: options?.map(({ value, label }) => ({ value, label: label ?? "" })) ?? null,
    target: template ?? null,
    default: (attribute.default ?? null) as Json,
    format: format ?? null,
  };
}

export const optionsBody = (options: Option[] | null) =>
  options?.map(({ value, label }) => (label === "" || label === value ? value : { value, label })) ?? null;

/** A format without unset members, in a fixed order; null for none. */
export function formatBody(format: Format | null): Format | null {
  const members = Object.entries(format ?? {}).filter(([, value]) => value !== undefined);
  return members.length === 0 ? null : (Object.fromEntries(members.sort()) as Format);
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The definition of a new attribute. */
export function newAttribute(draft: Draft): Schemas["NewAttribute"] {
  const { label, slug, type, required, indexed, options, target } = draft;
  return {
    slug,
    type,
    ...(label !== "" && { label }),
    ...(required && { required }),
    ...(indexed && hasIndex(type) && { indexed }),
    ...(type === "list" && options && { options: optionsBody(options) }),
    ...(type === "reference" && target !== null && { template: target }),
    ...(formatBody(draft.format) !== null && { format: formatBody(draft.format) }),
    ...(draft.default !== null && { default: draft.default as Schemas["Value"] }),
  };
}

/** The request that changes an attribute into its draft; null if nothing has changed. */
export function changeOf(attribute: Attribute, draft: Draft): Schemas["TemplateChange"] | null {
  const before = draftOf(attribute);
  const change: Schemas["AttributeChange"] = { slug: draft.slug };
  if (draft.label !== before.label) change.label = draft.label === "" ? null : draft.label;
  if (draft.required !== before.required) change.required = draft.required;
  if (draft.indexed !== before.indexed) change.indexed = draft.indexed;
  if (!same(optionsBody(draft.options), optionsBody(before.options)))
    change.options = optionsBody(draft.options);
  if (!same(draft.default, before.default)) change.default = draft.default as Schemas["Value"];
  if (!same(formatBody(draft.format), formatBody(before.format))) change.format = formatBody(draft.format);
  const isRenamed = draft.slug !== before.slug;
  const isChanged = Object.keys(change).length > 1;
  if (!isRenamed && !isChanged) return null;
  return {
    ...(isRenamed && { rename: { [before.slug]: draft.slug } }),
    ...(isChanged && { attributes: [change] }),
  };
}

/** References are always indexed. */
export const hasIndex = (type: AttributeType) => type !== "reference";

export type FieldErrors = Partial<
  Record<"label" | "slug" | "type" | "options" | "target" | "default" | "required" | "format", string>
>;

/** The errors that prevent sending a draft. */
export function errorsOf(draft: Draft, others: readonly string[]): FieldErrors {
  const errors: FieldErrors = {};
  const slug = attributeSlugError(draft.slug, others);
  if (slug) errors.slug = slug;
  if (draft.type === "reference" && draft.target === null) errors.target = "";
  const values = draft.type === "list" ? (draft.options?.map(({ value }) => value) ?? []) : [];
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  if (values.includes("")) errors.options = t.optionEmpty;
  else if (twice !== undefined) errors.options = t.optionTwice(twice);
  return errors;
}

/** The errors by field. `at` is the pointer of the attribute: `/attributes/0`. */
export function rejections(error: RequestError, at: string, before: string | null): FieldErrors {
  const errors: FieldErrors = {};
  const set = (field: keyof FieldErrors, text: string) => {
    errors[field] ??= text;
  };
  for (const { pointer, detail } of error.problem?.errors ?? []) {
    if (before !== null && pointer === `/rename/${before}`) set("slug", detail);
    else if (pointer.startsWith(`${at}/options`)) set("options", detail);
    else if (pointer === `${at}/template`) set("target", detail);
    else if (pointer.startsWith(`${at}/default`)) set("default", detail);
    else if (pointer.startsWith(`${at}/format`)) set("format", detail);
    else if (pointer === `${at}/slug`) set("slug", detail);
    else if (pointer === `${at}/label`) set("label", detail);
    else if (pointer === `${at}/type`) set("type", detail);
    else if (pointer === "/attributes" || pointer === `${at}/required`) set("required", detail);
  }
  return errors;
}

/** The slugs of the other attributes. */
export const othersOf = (template: Pick<Template, "attributes">, attribute: Attribute | null) =>
  template.attributes.filter((it) => it !== attribute).map(({ slug }) => slug);
