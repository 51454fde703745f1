/** The values that the facet panel offers as filters. */
import type { Json } from "../api/json";
import type { Attribute, Template } from "../api/queries";
import { textOf } from "../value/exact";
import { type FacetValue, facetLabel } from "./choices";
import { type Comparison, type Condition, isComparison, valuesOf } from "./condition";

const OPEN_TYPES: Attribute["type"][] = ["list", "reference", "boolean"];
const TEXT_TYPES: Attribute["type"][] = ["string", "dimension"];

/** Attributes that have few distinct values, and text attributes, which may have few. */
export function facetAttributes({ attributes, display }: Template): {
  first: Attribute[];
  texts: Attribute[];
} {
  return {
    first: attributes.filter(({ type }) => OPEN_TYPES.includes(type)),
    // The display attribute is different in nearly every record.
    texts: attributes.filter(({ type, slug }) => TEXT_TYPES.includes(type) && slug !== display),
  };
}

/** The condition that a panel sets for an attribute: one of several values. */
function isOfPanel(condition: Condition, slug: string): condition is Comparison {
  return isComparison(condition) && condition.field === slug && ["eq", "in"].includes(condition.operator);
}

/** The values of an attribute in the panel's condition. */
export function filteredValues(conditions: readonly Condition[], slug: string): Json[] {
  const condition = conditions.find((it) => isOfPanel(it, slug));
  return condition && isOfPanel(condition, slug) ? (valuesOf(condition) ?? []) : [];
}

/** The conditions except the panel's on an attribute, so that its other values are counted too. */
export const withoutFacet = (conditions: readonly Condition[], slug: string): Condition[] => {
  const own = conditions.find((it) => isOfPanel(it, slug));
  return conditions.filter((it) => it !== own);
};

/** A comparable form of a value, because conditions may contain it as text. */
const keyOf = (value: Json): string => textOf(value);

/** The conditions after a click on a value, which adds it to the filter or removes it. */
export function toggleFacetValue(
  conditions: readonly Condition[],
  attribute: Pick<Attribute, "slug" | "type">,
  value: Json,
): Condition[] {
  const { slug } = attribute;
  const at = conditions.findIndex((it) => isOfPanel(it, slug));
  const values = filteredValues(conditions, slug);
  const next = values.some((it) => keyOf(it) === keyOf(value))
    ? values.filter((it) => keyOf(it) !== keyOf(value))
    : [...values, value];
  const changed: Condition[] = next.length === 0 ? [] : [conditionOf(attribute, next)];
  return at < 0
    ? [...conditions, ...changed]
    : [...conditions.slice(0, at), ...changed, ...conditions.slice(at + 1)];
}

/** A boolean filter has one value. Several values become a list. */
function conditionOf({ slug, type }: Pick<Attribute, "slug" | "type">, values: Json[]): Condition {
  if (type === "boolean" && values.length === 1)
    return { field: slug, operator: "eq", value: values[0] ?? null };
  return { field: slug, operator: "in", value: values };
}

/** The number of values in a panel, and the maximum length of a text value. */
const MAX_SHOWN = 20;
const MAX_VALUE_LENGTH = 60;

export type ShownValue = FacetValue & { name: string; isOn: boolean };

/**
 * The values to show: the most frequent, and those in the filter, even if they are rare or have no records now.
 * A text attribute without frequent values is not offered as a filter.
 */
export function shownValues(
  values: readonly FacetValue[],
  { type }: Pick<Attribute, "type">,
  filtered: readonly Json[],
): ShownValue[] {
  const isText = TEXT_TYPES.includes(type);
  const on = new Set(filtered.map(keyOf));
  const usual = values.filter(
    (it) =>
      on.has(keyOf(it.value)) || !isText || (it.count > 1 && textOf(it.value).length <= MAX_VALUE_LENGTH),
  );
  const missing = filtered.filter((value) => !values.some((it) => keyOf(it.value) === keyOf(value)));
  const all = [...usual, ...missing.map((value): FacetValue => ({ value, count: 0 }))].map((it) => ({
    ...it,
    name: facetLabel(it),
    isOn: on.has(keyOf(it.value)),
  }));
  return all.filter((it, index) => it.isOn || index < MAX_SHOWN);
}
