/** Display names of attributes and options. */
import type { Attribute } from "../api/queries";

/** The label of an attribute, or its slug. */
export const attributeLabel = ({ label, slug }: Pick<Attribute, "label" | "slug">): string => label || slug;

/** The label of an option, or its value. */
export function optionLabel(attribute: Pick<Attribute, "options">, value: string): string {
  return attribute.options?.find((option) => option.value === value)?.label || value;
}
