/** The attributes of other templates that refer to the records of a template. */
import type { Attribute, Template } from "../api/queries";

export type Referring = { from: Template; attribute: Attribute };

/** In the order of the templates and their attributes. */
export function referring(templates: readonly Template[], target: string): Referring[] {
  return templates.flatMap((from) =>
    from.attributes
      .filter((attribute) => attribute.type === "reference" && attribute.template === target)
      .map((attribute) => ({ from, attribute })),
  );
}
