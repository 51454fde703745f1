/** Names of things that have a slug and perhaps a label. */
import type { Attribute } from "../api/queries";

/** The label of an attribute, else its slug. */
export const attributeLabel = ({ label, slug }: Pick<Attribute, "label" | "slug">): string => label || slug;

/** The label of a value of a list, else the value. */
export function optionLabel(attribute: Pick<Attribute, "options">, value: string): string {
  return attribute.options?.find((option) => option.value === value)?.label || value;
}
