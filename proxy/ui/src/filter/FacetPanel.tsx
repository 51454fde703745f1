import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Check, ChevronRight, X } from "lucide-react";
import { useState } from "react";
import { Button, Checkbox, Disclosure, DisclosurePanel, Heading } from "react-aria-components";
import { sentence as sentenceOf } from "../api/problem";
import type { Attribute, Template } from "../api/queries";
import { IconButton, Button as WordButton } from "../components/Button";
import checkbox from "../components/Checkbox.module.css";
import { Skeleton } from "../components/Notice";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import { number } from "../language/plural";
import { useSession } from "../session/session";
import { fetchFacet } from "./choices";
import type { Condition } from "./condition";
import style from "./FacetPanel.module.css";
import { facetAttributes, filteredValues, shownValues, toggleFacetValue, withoutFacet } from "./facets";
import { named } from "./sentence";
import { useSentences } from "./useContext";

const t = messages.filter;

type Props = {
  project: string;
  template: Template;
  conditions: readonly Condition[];
  /** The time zone of days in conditions, if it is not that of the project. */
  timeZone?: string | undefined;
  /** The search text. */
  search?: string;
  /** Whether the search tolerates typos. */
  isNear?: boolean;
  onChange: (conditions: Condition[]) => void;
  onClose?: () => void;
};

/** The most frequent values in the current list. A click filters by one. */
export function FacetPanel({
  project,
  template,
  conditions,
  search = "",
  onChange,
  onClose,
  ...props
}: Props) {
  const { first, texts } = facetAttributes(template);
  const section = (attribute: Attribute, isOpen: boolean) => (
    <Facet
      key={attribute.slug}
      project={project}
      template={template.slug}
      attribute={attribute}
      conditions={conditions}
      search={search}
      isNear={props.isNear ?? false}
      timeZone={props.timeZone}
      onChange={onChange}
      isOpenAtFirst={isOpen || filteredValues(conditions, attribute.slug).length > 0}
    />
  );
  return (
    <aside className={style.panel} aria-label={t.facets}>
      <header className={style.head}>
        <h2>{t.facets}</h2>
        {onClose && <IconButton icon={X} label={t.closeFacets} size="small" onPress={onClose} />}
      </header>
      {first.length + texts.length === 0 && <p className={style.note}>{t.noFacetFields}</p>}
      {first.map((attribute) => section(attribute, true))}
      {texts.map((attribute) => section(attribute, first.length === 0))}
    </aside>
  );
}

/** The number of values that a section shows initially. */
const FEW = 6;

type FacetProps = Required<Omit<Props, "template" | "onClose" | "timeZone">> & {
  timeZone: string | undefined;
  template: string;
  attribute: Attribute;
  isOpenAtFirst: boolean;
};

function Facet({ project, template, attribute, conditions, search, onChange, ...props }: FacetProps) {
  const { key } = useSession();
  const [isWhole, setWhole] = useState(false);
  const [isOpen, setOpen] = useState(props.isOpenAtFirst);
  const { slug } = attribute;
  const filters = withoutFacet(conditions, slug);
  const own = conditions.filter((it) => !filters.includes(it));
  const context = useSentences(project, template, own);
  const field = context.fields.find(slug);
  const body = {
    filters,
    ...(search.trim() === "" ? {} : { global_search: search.trim() }),
    ...(props.timeZone === undefined ? {} : { time_zone: props.timeZone }),
    ...(props.isNear ? { fuzzy: "auto" as const } : {}),
  };
  const facet = useQuery({
    queryKey: [key, "list", project, template, "facet", slug, body],
    queryFn: ({ signal }) => fetchFacet(project, template, slug, body, signal),
    enabled: isOpen,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const filtered = filteredValues(conditions, slug);
  const values = shownValues(facet.data ?? [], attribute, filtered).map((it) =>
    it.count === 0 ? { ...it, name: named(it.value, field, context) } : it,
  );
  const shown = isWhole || values.length <= FEW + 2 ? values : values.filter((it, at) => at < FEW || it.isOn);
  const most = Math.max(1, ...values.map((it) => it.count));
  const label = attributeLabel(attribute);
  return (
    <Disclosure className={style.facet ?? ""} isExpanded={isOpen} onExpandedChange={setOpen}>
      <Heading level={3} className={style.title}>
        <Button slot="trigger" className={style.trigger ?? ""}>
          <ChevronRight size={14} aria-hidden />
          <span dir="auto">{label}</span>
          {filtered.length > 0 && <span className={style.active}>{number(filtered.length)}</span>}
        </Button>
      </Heading>
      <DisclosurePanel>
        {isOpen && facet.isPending && <Skeleton lines={3} />}
        {facet.isError && (
          <p className={style.note}>
            {sentenceOf(facet.error)}{" "}
            <WordButton kind="quiet" onPress={() => facet.refetch()}>
              {t.tryAgain}
            </WordButton>
          </p>
        )}
        {facet.isSuccess && values.length === 0 && (
          <p className={style.note}>{(facet.data ?? []).length === 0 ? t.noFacets : t.noFrequent}</p>
        )}
        <ul className={facet.isPlaceholderData ? style.old : ""} aria-label={t.facetsOf(label)}>
          {shown.map((it) => (
            <li key={JSON.stringify(it.value)}>
              <Checkbox
                className={`${checkbox.checkbox} ${style.value}`}
                isSelected={it.isOn}
                onChange={() => onChange(toggleFacetValue(conditions, attribute, it.value))}
              >
                <span className={checkbox.box}>{it.isOn && <Check size={12} aria-hidden />}</span>
                <span className={style.name} dir="auto" title={it.name}>
                  {attribute.type === "boolean" ? (it.value === true ? t.yes : t.no) : it.name}
                </span>
                <span className={style.count}>{number(it.count)}</span>
                <span
                  className={style.bar}
                  style={{ inlineSize: `${(100 * it.count) / most}%` }}
                  aria-hidden
                />
              </Checkbox>
            </li>
          ))}
        </ul>
        {shown.length < values.length && (
          <WordButton kind="quiet" onPress={() => setWhole(true)}>
            {t.moreValues(values.length - shown.length)}
          </WordButton>
        )}
      </DisclosurePanel>
    </Disclosure>
  );
}
