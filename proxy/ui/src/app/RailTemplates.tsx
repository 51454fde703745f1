import { Bookmark, Plus, Table2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Input, SearchField } from "react-aria-components";
import { Link, useLocation } from "wouter";
import { useLocationProperty } from "wouter/use-browser-location";
import { useCount } from "../api/counts";
import { type Template, useTemplates } from "../api/queries";
import { useSettled } from "../api/settled";
import { messages } from "../language";
import { leftList } from "../list/remembered";
import { addresses } from "../navigation/addresses";

import { matches } from "./palette/match";
import style from "./Rail.module.css";
import { useViews } from "./views";

const t = messages.frame;
/** Up to this number of templates, the rail has no filter field. */
const MAX_WITHOUT_FILTER = 12;

type Props = { project: string; mayDefine: boolean; isFolded: boolean };

/** The templates of the project with their counts, and the saved views below the open one. */
export function RailTemplates({ project, mayDefine, isFolded }: Props) {
  const templates = useTemplates(project);
  const [filter, setFilter] = useState("");
  const all = templates.data ?? [];
  const hasFilter = all.length > MAX_WITHOUT_FILTER && !isFolded;
  const shown = hasFilter ? all.filter(({ slug, label }) => matches(filter, [label ?? slug, slug])) : all;
  return (
    <div className={style.templates}>
      {hasFilter && (
        <SearchField
          className={style.filter ?? ""}
          aria-label={t.filterTemplates}
          value={filter}
          onChange={setFilter}
        >
          <Input placeholder={t.filterTemplatesOf(all.length)} />
        </SearchField>
      )}
      <ul className={style.items} aria-label={t.templates}>
        {shown.map((template) => (
          <TemplateItem key={template.slug} project={project} template={template} isFolded={isFolded} />
        ))}
        {hasFilter && shown.length === 0 && <li className={style.note}>{t.nothingFound}</li>}
        {templates.data?.length === 0 && !mayDefine && !isFolded && (
          <li className={style.note}>{t.noTemplatesToSee}</li>
        )}
        {mayDefine && (
          <li>
            <Link
              href={addresses.newTemplate(project)}
              className={`${style.item} ${style.quiet}`}
              title={isFolded ? t.newTemplate : undefined}
            >
              <Plus size={16} aria-hidden />
              <span className={isFolded ? "visually-hidden" : style.label}>{t.newTemplate}</span>
            </Link>
          </li>
        )}
      </ul>
    </div>
  );
}

type ItemProps = { project: string; template: Template; isFolded: boolean };

function TemplateItem({ project, template, isFolded }: ItemProps) {
  const [location] = useLocation();
  // Not the whole query, because each keystroke of a search changes it.
  const view = useLocationProperty(() => new URLSearchParams(window.location.search).get("view"));
  const item = useRef<HTMLAnchorElement>(null);
  // Templates that are only scrolled past are not counted, and the records of a page are loaded first.
  const isSeen = useSeen(item);
  const isSettled = useSettled(String(isSeen));
  const to = addresses.list(project, template.slug);
  const left = useLocationProperty(() => leftList(project, template.slug));
  const isOpen = location === to || location.startsWith(`${to}/`);
  const name = template.label ?? template.slug;
  useEffect(() => {
    if (isOpen) item.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  return (
    <li>
      <Link
        ref={item}
        href={left}
        className={style.item}
        aria-current={isOpen && (view === null || isFolded) ? "page" : undefined}
        title={isFolded ? name : undefined}
      >
        {isFolded ? (
          <span className={style.monogram} aria-hidden dir="auto">
            {[...name].slice(0, 2).join("")}
          </span>
        ) : (
          <Table2 size={16} aria-hidden />
        )}
        <span className={isFolded ? "visually-hidden" : style.label} dir="auto">
          {name}
        </span>
        {!isFolded && <Count project={project} template={template.slug} isEnabled={isSeen && isSettled} />}
      </Link>
      {isOpen && !isFolded && <Views project={project} template={template.slug} view={view} />}
    </li>
  );
}

/** Whether the element has ever been visible. Counts of hundreds of templates are requested when scrolled into view. */
function useSeen(element: { current: Element | null }): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current || isSeen) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isSeen]);
  return isSeen;
}

const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

type CountProps = { project: string; template: string; isEnabled: boolean };

function Count({ project, template, isEnabled }: CountProps) {
  const count = useCount(project, template, isEnabled);
  if (count === undefined) return null;
  return (
    <span className={style.count} title={t.aboutRecords(count)}>
      <span aria-hidden>{short.format(count)}</span>
      <span className="visually-hidden">{t.aboutRecords(count)}</span>
    </span>
  );
}

function Views({ project, template, view }: { project: string; template: string; view: string | null }) {
  const views = useViews(project, template);
  if (!views.data?.length) return null;
  return (
    <ul className={style.views} aria-label={t.savedViews}>
      {views.data.map(({ slug, label }) => (
        <li key={slug}>
          <Link
            href={addresses.view(project, template, slug)}
            className={style.item}
            aria-current={slug === view ? "page" : undefined}
          >
            <Bookmark size={14} aria-hidden />
            <span className={style.label} dir="auto">
              {label ?? slug}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
