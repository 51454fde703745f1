/** The effects of a definition change, shown before it is made. */
import type { Schemas } from "../api/client";
import type { RequestError } from "../api/problem";
import type { Attribute, Template, View } from "../api/queries";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { type Draft, draftOf, formatBody } from "./draft";
import { areSynonymsAlike, linesOf, setsOf } from "./synonyms";

const t = pageMessages.template.effects;

/** `plain` changes no data, `attention` has a cost, `rejection` prevents the change. */
export type Effect = { kind: "plain" | "attention" | "rejection"; text: string };

/** The known counts; null while they are computed. */
export type Facts = {
  records: number | null;
  /** The number of records that have a value. */
  filled: number | null;
  /** Saved views that use the attribute. */
  views: View[];
  /** The result of the dry run; missing while it runs or if it is not supported. */
  plan?: Plan | undefined;
};

export type Plan = Schemas["TemplatePlan"];

/** The result of the dry run: the effects or the error of the change. Neither is present while it runs. */
export type DryRunResult = { plan?: Plan | undefined; rejection?: RequestError | undefined };

const plain = (text: string): Effect => ({ kind: "plain", text });
const attention = (text: string): Effect => ({ kind: "attention", text });
const rejection = (text: string): Effect => ({ kind: "rejection", text });

const leaves = (plan: Plan | undefined, kind: Plan["jobs"][number]["kind"]): boolean =>
  plan?.jobs.some((job) => job.kind === kind) ?? false;

/** Views whose search uses an attribute, even through a reference. */
export function viewsWith(views: View[], slug: string): View[] {
  const names = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(names);
    if (typeof value !== "object" || value === null) return typeof value === "string" && namesIn(value, slug);
    return Object.entries(value).some(([member, it]) => member !== "value" && names(it));
  };
  return views.filter(({ query }) => names(query));
}

/** Whether a path such as "-city,name" or "city.country" uses the attribute city. */
const namesIn = (text: string, slug: string) =>
  text.split(",").some((part) => part.trim().replace(/^-/, "").split(".")[0] === slug);

/** The effects of saving the draft of an attribute; `attribute` is null for a new one. */
export function effectsOf(
  template: Template,
  attribute: Attribute | null,
  draft: Draft,
  facts: Facts,
): Effect[] {
  return attribute === null
    ? effectsOfNew(draft, facts)
    : effectsOfChange(template, draftOf(attribute), draft, facts);
}

/**
 * The effects after the dry run. If the change is rejected, that is the only effect, with a specific message for known
 * reasons. Otherwise no effect mentions a possible rejection.
 */
export function withDryRun(effects: Effect[], { plan, rejection: rejected }: DryRunResult): Effect[] {
  const isRejection = ({ kind }: Effect) => kind === "rejection";
  if (plan !== undefined) return effects.filter((it) => !isRejection(it));
  if (rejected === undefined) return effects;
  const known = effects.filter(isRejection);
  return known.length > 0 ? known : [rejection(rejected.problem?.errors?.[0]?.detail ?? rejected.message)];
}

function effectsOfNew(draft: Draft, facts: Facts): Effect[] {
  const { records } = facts;
  const effects: Effect[] = [];
  const has = records !== null && records > 0;
  if (draft.default !== null) effects.push(has ? plain(t.defaultForAll(records)) : plain(t.defaultForNew));
  else if (draft.required && has) effects.push(rejection(t.requiredNeedsDefault(records)));
  else effects.push(plain(has ? t.addedEmpty(records) : t.added));
  if (draft.indexed || draft.type === "reference") effects.push(...indexEffects(draft, facts));
  if (leaves(facts.plan, "documents") && has) effects.push(plain(t.documentsInBackground(records)));
  return effects;
}

function effectsOfChange(template: Template, before: Draft, after: Draft, facts: Facts): Effect[] {
  const effects: Effect[] = [];
  if (after.slug !== before.slug) {
    effects.push(plain(t.renamed(facts.views.map(({ label, slug }) => label || slug))));
    effects.push(attention(t.renamedOutside(before.slug, after.slug)));
  }
  if (after.label !== before.label) effects.push(plain(t.relabelled));
  if (after.required && !before.required) {
    const { records, filled, plan } = facts;
    const empty = plan ? 0 : records !== null && filled !== null ? records - filled : null;
    if (empty === null) effects.push(plain(t.requiredCounting));
    else effects.push(empty > 0 ? rejection(t.requiredMissing(empty)) : plain(t.required));
  }
  if (!after.required && before.required) effects.push(plain(t.optional));
  if (after.indexed && !before.indexed) effects.push(...indexEffects(after, facts));
  if (!after.indexed && before.indexed) effects.push(attention(t.unindexed));
  effects.push(...optionEffects(before, after, facts));
  if (JSON.stringify(after.default) !== JSON.stringify(before.default))
    effects.push(plain(after.default === null ? t.defaultRemoved : t.defaultForNew));
  if (JSON.stringify(formatBody(after.format)) !== JSON.stringify(formatBody(before.format)))
    effects.push(plain(t.format));
  if (template.display === before.slug && after.slug !== before.slug) effects.push(plain(t.stillDisplay));
  return effects;
}

function indexEffects(draft: Draft, { records, plan }: Facts): Effect[] {
  const isLater = plan?.indexes.some((it) => it.action === "create" && it.in_background) ?? false;
  const cost =
    draft.type === "reference" ? t.referenceIndex : draft.type === "string" ? t.textIndex : t.index;
  return [plain(cost), ...(isLater ? [plain(t.indexInBackground(records))] : [])];
}

function optionEffects(before: Draft, after: Draft, { plan }: Facts): Effect[] {
  if (before.options === null && after.options === null) return [];
  if (after.options === null) return [plain(t.anyValue)];
  const values = (draft: Draft) => draft.options?.map(({ value }) => value) ?? [];
  const gone = values(before).filter((it) => !values(after).includes(it));
  const isRelabelled = after.options.some(({ value, label }) =>
    before.options?.some((it) => it.value === value && it.label !== label),
  );
  return [
    ...(before.options === null ? [plan ? plain(t.onlyOptionsFit) : attention(t.onlyOptions)] : []),
    ...(gone.length > 0 ? [plan ? plain(t.optionsGoneFit(gone)) : attention(t.optionsGone(gone))] : []),
    ...(isRelabelled ? [plain(leaves(plan, "documents") ? t.labelsInBackground : t.labels)] : []),
  ];
}

/** The effects of dropping an attribute. */
export function effectsOfDrop(template: Template, attribute: Attribute, facts: Facts): Effect[] {
  const name = attributeLabel(attribute);
  const { views, plan } = facts;
  const filled = plan?.dropped.find(({ slug }) => slug === attribute.slug)?.records ?? facts.filled;
  const effects: Effect[] = [];
  if (views.length > 0) effects.push(rejection(t.viewsUse(views.map(({ label, slug }) => label || slug))));
  if (filled === null) effects.push(attention(t.dropCounting(name)));
  else effects.push(filled === 0 ? plain(t.dropEmpty(name)) : attention(t.dropValues(name, filled)));
  effects.push(plain(attribute.type === "metric" ? t.dropMetric : t.dropHistory));
  if (template.display === attribute.slug) effects.push(attention(t.dropDisplay));
  if (template.embed?.includes(attribute.slug)) effects.push(attention(t.dropEmbedded));
  if (!plan) effects.push(plain(t.dropRejected));
  return effects;
}

export type Settings = {
  label: string;
  display: string | null;
  language: string;
  /** Null in a database that is not migrated yet. */
  collation: string | null;
  embed: string[];
  /** One set per line. */
  synonyms: string;
};

export const settingsOf = ({ label, display, language, collation, embed, synonyms }: Template): Settings => ({
  label: label ?? "",
  display,
  language,
  collation: collation ?? null,
  embed: embed ?? [],
  synonyms: linesOf(synonyms ?? []),
});

const isEmbeddedAlike = (a: string[], b: string[]) =>
  JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());

/** The request that changes the settings; null if nothing has changed. */
export function changeOfSettings(before: Settings, after: Settings): Schemas["TemplateChange"] | null {
  const { label, display, language, collation, embed, synonyms } = after;
  const change: Schemas["TemplateChange"] = {
    ...(label !== before.label && { label: label === "" ? null : label }),
    ...(display !== before.display && { display }),
    ...(language !== before.language && { language }),
    ...(collation !== before.collation && { collation }),
    ...(!isEmbeddedAlike(embed, before.embed) && { embed: embed.length === 0 ? null : embed }),
    ...(!areSynonymsAlike(synonyms, before.synonyms) && { synonyms: setsOf(synonyms) }),
  };
  return Object.keys(change).length === 0 ? null : change;
}

/** The effects of saving the settings of a template. */
export function effectsOfSettings(
  template: Template,
  after: Settings,
  { records, plan }: Pick<Facts, "records" | "plan">,
): Effect[] {
  const before = settingsOf(template);
  const effects: Effect[] = [];
  if (after.label !== before.label) effects.push(plain(t.templateRelabelled));
  if (after.display !== before.display) effects.push(plain(t.displayChanged));
  if (after.language !== before.language)
    effects.push(
      leaves(plan, "documents") ? attention(t.languageInBackground(records)) : plain(t.languageChanged),
    );
  if (after.collation !== before.collation)
    effects.push(plain(leaves(plan, "index") ? t.collationInBackground : t.collationChanged));
  if (!isEmbeddedAlike(after.embed, before.embed))
    effects.push(
      after.embed.length === 0
        ? attention(t.embedNone)
        : attention(records === null ? t.embedAll : t.embedCount(records)),
    );
  if (!areSynonymsAlike(after.synonyms, before.synonyms)) effects.push(plain(t.synonymsChanged));
  return effects;
}
