import {
  ArchiveRestore,
  ChartBarBig,
  FileDown,
  FileUp,
  LayoutGrid,
  MoreHorizontal,
  Plus,
  RefreshCw,
  Rows3,
  Settings2,
  Undo2,
} from "lucide-react";
import type { Ref } from "react";
import { useLocation, useSearch } from "wouter";
import type { ExportFormat } from "../api/export";
import { refreshLists } from "../api/lists";
import type { Privilege, Template } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { type Action, Menu } from "../components/Menu";
import { Notice } from "../components/Notice";
import { Tag } from "../components/Tag";
import { FilterBar } from "../filter/FilterBar";
import { faultsOfFilters } from "../filter/faults";
import { IgnoredFilters } from "../filter/IgnoredFilters";
import { ViewMenu } from "../filter/ViewMenu";
import { words } from "../language";
import { addresses } from "../navigation/addresses";
import { ColumnChooser } from "./ColumnChooser";
import type { ListColumn } from "./columns";
import style from "./ListPage.module.css";
import { leftList } from "./remembered";
import { SearchBar } from "./SearchBar";
import { INITIAL, type ListState, type Mode } from "./state";
import type { Found } from "./useFound";
import type { ChangeState } from "./useListState";
import { savedSearch, stateOfView, zoneOfView } from "./view";

const t = words.list;

type Props = {
  project: string;
  template: Template;
  rights: ReadonlySet<Privilege>;
  state: ListState;
  /** The ways to search. */
  modes: readonly Mode[];
  /** Whether the address asks for a way that the service does not have. */
  isByWords: boolean;
  change: ChangeState;
  found: Found;
  columns: readonly ListColumn[];
  field: Ref<HTMLInputElement>;
  onColumns: (columns: ListColumn[] | null) => void;
  onExport: (format: ExportFormat) => void;
  onNew: () => void;
  onLeave: () => void;
  /** Whether the panel of frequent values is open. */
  isFacets: boolean;
  onFacets: () => void;
};

/** What stands above the records: the title, the search, the filters. */
export function ListTop({ project, template, rights, state, change, found, ...props }: Props) {
  const [, navigate] = useLocation();
  const query = useSearch();
  const label = template.label ?? template.slug;
  const { total, isRanked } = found;
  const showLive = () => navigate(leftList(project, template.slug));
  const file = (format: ExportFormat, name: string): Action => ({
    id: format,
    label: t.exportAs(name),
    icon: FileDown,
    // A file has live records.
    isDisabled: isRanked || state.isDeleted || found.near !== null,
    ...(found.near === null ? {} : { why: t.nearExports }),
    run: () => props.onExport(format),
  });
  const actions: Action[] = [
    file("csv", "CSV"),
    file("ndjson", "NDJSON"),
    {
      id: "refresh",
      label: t.refresh,
      icon: RefreshCw,
      run: () => void refreshLists(project, template.slug),
    },
    {
      id: "deleted",
      label: state.isDeleted ? t.showLive : t.showDeleted,
      icon: ArchiveRestore,
      run: state.isDeleted
        ? showLive
        : () => change({ ...INITIAL, columns: state.columns, isDeleted: true }, true),
    },
  ];
  if (rights.has("create"))
    actions.push("separator", {
      id: "import",
      label: t.import,
      icon: FileUp,
      run: () => navigate(addresses.import(project, template.slug)),
    });
  if (rights.has("define"))
    actions.push({
      id: "definition",
      label: t.definition,
      icon: Settings2,
      run: () => navigate(addresses.template(project, template.slug)),
    });
  return (
    <div className={style.top}>
      <header className={style.head}>
        <div className={style.title}>
          <h1 dir="auto">{label}</h1>
          {state.isDeleted && <Tag kind="attention">{t.areDeleted}</Tag>}
          <span className={style.count} aria-live="polite">
            {total && !isRanked && t.counted(total.value, total.isExact)}
          </span>
        </div>
        <Menu label={t.more} actions={actions}>
          <IconButton icon={MoreHorizontal} label={t.more} />
        </Menu>
        {state.isDeleted ? (
          <Button icon={Undo2} onPress={showLive}>
            {t.showLive}
          </Button>
        ) : (
          rights.has("create") && (
            <Button kind="main" icon={Plus} onPress={props.onNew}>
              {t.newRecord}
            </Button>
          )
        )}
      </header>
      <div className={style.tools}>
        {state.isDeleted ? (
          <p className={style.lead}>{rights.has("update") ? t.deletedHint : t.deletedHintReader}</p>
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
            aria-label={words.filter.facets}
            aria-pressed={props.isFacets}
            onPress={props.onFacets}
          >
            <span className={style.roomy}>{words.filter.facets}</span>
          </Button>
        )}
        <ColumnChooser template={template} columns={props.columns} onChange={props.onColumns} />
      </div>
      <FilterBar
        project={project}
        template={template.slug}
        value={state.conditions}
        onChange={(conditions) => change({ conditions }, true)}
        errors={found.query.isError ? faultsOfFilters(found.query.error) : undefined}
        areDeleted={state.isDeleted}
        shortcut="f"
      />
      <IgnoredFilters query={query} />
      {props.isByWords && <Notice kind="attention">{t.noMeaning}</Notice>}
    </div>
  );
}
