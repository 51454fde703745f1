import { ChartBarBig, LayoutGrid, LoaderCircle, Rows3 } from "lucide-react";
import { type Ref, useRef } from "react";
import { useSearch } from "wouter";
import type { ExportFormat } from "../api/export";
import type { Privilege, Template } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { Notice } from "../components/Notice";
import { Tag } from "../components/Tag";
import { errorsOfFilters } from "../filter/errors";
import { FilterBar } from "../filter/FilterBar";
import { IgnoredFilters } from "../filter/IgnoredFilters";
import { ViewMenu } from "../filter/ViewMenu";
import { messages } from "../language";
import { ColumnChooser } from "./ColumnChooser";
import type { ListColumn } from "./columns";
import { ListActions } from "./ListActions";
import style from "./ListPage.module.css";
import type { Live } from "./live";
import { NewRecords } from "./NewRecords";
import { SearchBar } from "./SearchBar";
import { SortMenu } from "./SortMenu";
import { StartLine } from "./StartLine";
import { startOf, startText } from "./start";
import { INITIAL, type ListState, type Mode } from "./state";
import type { Found } from "./useFound";
import { useIsWide } from "./useIsWide";
import type { ChangeState } from "./useListState";
import { MAX_FRESH } from "./useLive";
import { useWaitStage } from "./useWaitStage";
import { savedSearch, stateOfView, zoneOfView } from "./view";

const t = messages.list;
/** From this width on, the actions fit as buttons. */
const WIDE = 700;

type Props = {
  project: string;
  template: Template;
  privileges: ReadonlySet<Privilege>;
  state: ListState;
  /** The search modes. */
  modes: readonly Mode[];
  /** Whether the address selects a mode that the service does not support. */
  isFullTextOnly: boolean;
  change: ChangeState;
  found: Found;
  live: Live;
  /** Shows the new records. */
  onFresh: () => void;
  columns: readonly ListColumn[];
  field: Ref<HTMLInputElement>;
  onColumns: (columns: ListColumn[] | null) => void;
  onExport: (format: ExportFormat) => void;
  onNew: () => void;
  onLeave: () => void;
  /** Whether the facet panel is open. */
  isFacets: boolean;
  onFacets: () => void;
};

/** The area above the records: title, search, filters. */
export function ListTop({ project, template, privileges, state, change, found, ...props }: Props) {
  const query = useSearch();
  const label = template.label ?? template.slug;
  const { total, isRanked } = found;
  const start = isRanked ? null : startOf(state, template);
  const waitStage = useWaitStage(found.isSearching);
  const head = useRef<HTMLElement>(null);
  const isWide = useIsWide(head, WIDE);
  return (
    <div className={style.top}>
      <header ref={head} className={style.head}>
        <div className={style.title}>
          <h1 dir="auto">{label}</h1>
          {state.isDeleted && <Tag kind="attention">{t.areDeleted}</Tag>}
          <span className={style.count} aria-live="polite">
            {total && !isRanked && t.counted(total.value, total.isExact)}
            {total && start && t.countedFrom(startText(start), start.isDescending)}
          </span>
          <NewRecords
            count={found.isEmpty ? 0 : props.live.fresh.size}
            isFull={props.live.fresh.size >= MAX_FRESH}
            onShow={props.onFresh}
          />
        </div>
        <ListActions
          project={project}
          template={template}
          privileges={privileges}
          state={state}
          change={change}
          found={found}
          isWide={isWide}
          onExport={props.onExport}
          onNew={props.onNew}
        />
      </header>
      <div className={style.tools}>
        {state.isDeleted ? (
          <p className={style.lead}>{privileges.has("update") ? t.deletedHint : t.deletedHintReader}</p>
        ) : (
          <>
            <SearchBar
              project={project}
              template={template.slug}
              label={t.searchIn(label)}
              search={state.search}
              mode={state.mode}
              modes={props.modes}
              field={props.field}
              isSlow={waitStage !== "quick"}
              onSearch={(search) => change({ search })}
              onMode={(mode) => change({ mode })}
              onLeave={props.onLeave}
            />
            <ViewMenu
              project={project}
              template={template.slug}
              open={state.view}
              current={savedSearch(found.shown)}
              onOpen={(view) => change(view === null ? INITIAL : stateOfView(view, template), true)}
              onSaved={(view) => change({ view: view.slug, timeZone: zoneOfView(view) })}
            />
          </>
        )}
        <div className={style.looks}>
          <div className={style.layouts} role="group" aria-label={t.layout}>
            <IconButton
              icon={Rows3}
              label={t.table}
              isOn={state.layout === "table"}
              onPress={() => change({ layout: "table" })}
            />
            <IconButton
              icon={LayoutGrid}
              label={t.cards}
              isOn={state.layout === "cards"}
              onPress={() => change({ layout: "cards" })}
            />
          </div>
          {!state.isDeleted && (
            <Button
              kind="quiet"
              icon={ChartBarBig}
              aria-label={messages.filter.facets}
              aria-pressed={props.isFacets}
              onPress={props.onFacets}
            >
              <span className={style.roomy}>{messages.filter.facets}</span>
            </Button>
          )}
          <SortMenu project={project} template={template} state={state} isRanked={isRanked} change={change} />
          <ColumnChooser template={template} columns={props.columns} onChange={props.onColumns} />
        </div>
      </div>
      <FilterBar
        project={project}
        template={template.slug}
        value={state.conditions}
        onChange={(conditions) => change({ conditions }, true)}
        errors={found.query.isError ? errorsOfFilters(found.query.error) : undefined}
        areDeleted={state.isDeleted}
        shortcut="f"
      />
      {(waitStage === "very slow" || (waitStage === "slow" && state.isDeleted)) && (
        <p className={style.start} role="status">
          <LoaderCircle size={14} aria-hidden />
          <span>{waitStage === "slow" ? t.searching : t.searchingLong}</span>
          <Button onPress={found.stop}>{t.stop}</Button>
        </p>
      )}
      {start && <StartLine start={start} onBeginning={() => change({ start: null }, true)} />}
      <IgnoredFilters query={query} />
      {props.isFullTextOnly && <Notice kind="attention">{t.noMeaning}</Notice>}
    </div>
  );
}
