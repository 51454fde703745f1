/** Suggests attributes to index. */
import type { Schemas } from "../api/client";
import type { Attribute, Template, View } from "../api/queries";
import { pageMessages } from "../language/pages";
import { viewsWith } from "./effects";

const t = pageMessages.template;

/** Below this number of records, a full scan is fast. */
const MIN_RECORDS_FOR_SEARCHES = 5_000;
/** The number of records from which saved views suggest an index. */
const MIN_RECORDS_FOR_VIEWS = 50_000;

export type Suggestion = { attribute: Attribute; why: string };

/** Suggestions from the searches that the service counted, and from the saved views of large templates. */
export function suggestions(
  template: Template,
  counted: Schemas["IndexSuggestions"]["suggestions"],
  views: View[],
  records: number | null,
): Suggestion[] {
  const [isWorth, isLarge] = [
    (records ?? 0) >= MIN_RECORDS_FOR_SEARCHES,
    (records ?? 0) >= MIN_RECORDS_FOR_VIEWS,
  ];
  return template.attributes
    .filter(({ indexed, type }) => !indexed && type !== "reference")
    .flatMap((attribute) => {
      const found = isWorth && counted.find((it) => it.attribute === attribute.slug);
      const used = isLarge ? viewsWith(views, attribute.slug) : [];
      const reasons = [
        found && t.suggestedBySearches(Number(found.filters), Number(found.sorts)),
        used.length > 0 && t.suggestedByViews(used.map(({ slug, label }) => label || slug)),
      ].filter((it): it is string => Boolean(it));
      return reasons.length > 0 ? [{ attribute, why: `${reasons.join(". ")}.` }] : [];
    });
}
