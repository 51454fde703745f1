import { Plus, Search, X } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useWhenQuiet } from "../api/idle";
import { refreshLists } from "../api/lists";
import type { Privilege, RecordBody, Template } from "../api/queries";
import { useOnScreen } from "../code/current";
import { Button } from "../components/Button";
import { showToast } from "../components/toast";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import { useShortcuts } from "../navigation/shortcuts";
import { copiedText } from "../value/text";
import { BulkState } from "./BulkState";
import { columnValue, deletedColumns, KEY, type ListColumn, savedColumns, shownColumns } from "./columns";
import { useExport } from "./export";
import type { GridHandle } from "./Grid";
import style from "./ListPage.module.css";
import { ListTop } from "./ListTop";
import { Results } from "./Results";
import { SelectionBar } from "./SelectionBar";
import bars from "./SelectionBar.module.css";
import { withUsableStart } from "./start";
import { modesOf, searchBody } from "./state";
import { useAnnouncement } from "./useAnnouncement";
import { useBulk } from "./useBulk";
import { useFacets } from "./useFacets";
import { useFormats } from "./useFormats";
import { useFound } from "./useFound";
import { listQuery, useListState } from "./useListState";
import { useLive } from "./useLive";
import { useSelection } from "./useSelection";
import { useShowNew } from "./useShowNew";
import { useSteps } from "./useSteps";

const t = messages.list;
const loadRecord = () => import("../record/RecordDrawer");
const RecordDrawer = lazy(() => loadRecord().then((module) => ({ default: module.RecordDrawer })));
const FacetPanel = lazy(() =>
  import("../filter/FacetPanel").then((module) => ({ default: module.FacetPanel })),
);
const loadNewRecord = () => import("../record/NewRecord");
const NewRecord = lazy(() => loadNewRecord().then((module) => ({ default: module.NewRecord })));
/** Preloads the code that the user needs next. If it fails to load, it is requested again on use. */
const loadNext = () => Promise.allSettled([loadRecord(), loadNewRecord()]);
const megabytes = new Intl.NumberFormat(undefined, {
  style: "unit",
  unit: "megabyte",
  maximumFractionDigits: 1,
});

type Props = {
  project: string;
  template: Template;
  privileges: ReadonlySet<Privilege>;
  /** Whether the service embeds the search text. */
  takesText: boolean;
  /** The record in the drawer. */
  record: string | null;
};

/** The undo subject of a cleared search. */
const SEARCH = "search";

/** The list of a readable template, and the open record in front of it. */
export function RecordList({ project, template, privileges, takesText, record }: Props) {
  const [requested, change] = useListState(project, template.slug);
  const modes = modesOf(takesText, template.embed, requested.mode);
  const isFullTextOnly = !modes.includes(requested.mode);
  const state = useMemo(
    () => withUsableStart(isFullTextOnly ? { ...requested, mode: "words" } : requested, template),
    [requested, isFullTextOnly, template],
  );
  const [, navigate] = useLocation();
  const columns = useMemo(
    () => (state.isDeleted ? deletedColumns : shownColumns)(template, state.columns),
    [template, state.columns, state.isDeleted],
  );
  const found = useFound(project, template, state, columns);
  const formatted = useFormats(columns, found.records);
  // Facets are counted when the user stops typing.
  const counted = useRef(found.shown);
  if (found.isSettled) counted.current = found.shown;
  const selection = useSelection(found.records, found.searched);
  const bulk = useBulk(project, template.slug);
  const file = useExport(project, template.slug);
  const [isCreating, setCreating] = useState(false);
  const [isFacets, toggleFacets] = useFacets();
  const field = useRef<HTMLInputElement>(null);
  const grid = useRef<GridHandle>(null);
  const main = useRef<HTMLDivElement>(null);
  const [announcement, announce] = useAnnouncement();
  const live = useLive(project, template.slug, found, state.isDeleted, main, announce);
  const showNew = useShowNew(project, template.slug, found, live, grid);
  const label = template.label ?? template.slug;
  const list = addresses.list(project, template.slug);

  useWhenQuiet(loadNext);
  useEffect(() => {
    document.title = `${label} · keyed`;
  }, [label]);
  const create = () => setCreating(true);
  const clearSearch = () => {
    const { search } = state;
    if (search === "") return;
    change({ search: "" });
    showToast(t.searchCleared, { label: t.undo, run: () => change({ search }) }, SEARCH);
  };
  const path = `/v1/entities/search/${encodeURIComponent(template.slug)}`;
  useOnScreen({ method: "POST", path, project, body: found.body }, "list");
  useShortcuts(
    [
      ...(state.isDeleted
        ? []
        : [
            { keys: "/", label: t.searchIn(label), icon: Search, run: () => field.current?.focus() },
            { keys: "x", label: t.clearSearch, icon: X, run: clearSearch },
          ]),
      ...(privileges.has("create") && !state.isDeleted
        ? [{ keys: "n", label: t.newRecord, icon: Plus, run: create }]
        : []),
    ],
    "list",
  );

  const keep = useCallback(
    (next: ListColumn[] | null) => change({ columns: next === null ? null : savedColumns(template, next) }),
    [change, template],
  );
  const resize = useCallback(
    (id: string, width: number | null) => {
      const initial = deletedColumns(template, [{ id }]).find((column) => column.id === id)?.width ?? 0;
      keep(columns.map((column) => (column.id === id ? { ...column, width: width ?? initial } : column)));
    },
    [keep, columns, template],
  );
  const open = useCallback(
    ({ id }: RecordBody) => navigate(addresses.record(project, template.slug, id) + listQuery()),
    [navigate, project, template.slug],
  );
  const close = useCallback(() => {
    navigate(list + listQuery());
    grid.current?.focus(record ?? undefined);
  }, [navigate, list, record]);
  const steps = useSteps(project, template.slug, found, record);
  const copy = async (from: RecordBody, column: ListColumn | null) => {
    const text =
      column === null
        ? (from.external_key ?? "")
        : copiedText(column.attribute, columnValue(from, column), from.attribute_values?.[column.id]);
    if (text === "") return;
    await navigator.clipboard.writeText(text);
    showToast(t.copied(text));
  };
  const labels = new Map([[KEY, t.key], ...columns.map((it): [string, string] => [it.id, it.label])]);
  const isByRank = state.sort.length === 0 && state.search.trim() !== "";
  const sorted =
    found.isRanked || isByRank
      ? ""
      : state.isDeleted && state.sort.length === 0
        ? t.deletedSort
        : t.sortedBy(state.sort.map((it) => ({ ...it, label: labels.get(it.field) ?? it.field })));
  const { ids, isAll } = selection.selection;

  return (
    <div className={style.beside}>
      <div className={style.page}>
        <ListTop
          project={project}
          template={template}
          privileges={privileges}
          state={state}
          modes={modes}
          isFullTextOnly={isFullTextOnly}
          change={change}
          found={found}
          live={live}
          onFresh={showNew}
          columns={columns}
          field={field}
          onColumns={keep}
          onExport={(format) =>
            file.start({ ...searchBody(state), fields: columns.map(({ id }) => id) }, format)
          }
          onNew={create}
          onLeave={() => grid.current?.focus()}
          isFacets={isFacets}
          onFacets={toggleFacets}
        />
        <span className="visually-hidden" aria-live="polite">
          {sorted}
        </span>
        <span className="visually-hidden" aria-live="polite">
          {announcement}
        </span>
        <div ref={main} className={style.main}>
          <Results
            project={project}
            template={template}
            privileges={privileges}
            state={state}
            change={change}
            found={found}
            live={live}
            columns={formatted}
            selection={selection}
            open={record}
            grid={grid}
            sorted={sorted}
            onOpen={open}
            onCopy={copy}
            onResize={resize}
            onNew={create}
            onMeant={(search) => {
              change({ search }, true);
              field.current?.focus();
            }}
          >
            {(ids.size > 0 || isAll) && (
              <SelectionBar
                project={project}
                template={template}
                privileges={privileges}
                selection={selection.selection}
                records={found.records}
                areDeleted={state.isDeleted}
                body={searchBody(found.shown)}
                total={found.total}
                hasMore={selection.areAll === true && found.query.hasNextPage && !found.isRanked}
                isNear={found.near !== null}
                bulk={bulk}
                onSelectMatching={() => {
                  found.count();
                  selection.selectMatching();
                }}
                onClear={selection.clear}
              />
            )}
            <BulkState {...bulk} />
            {file.bytes !== null && (
              <div className={bars.task} role="status">
                {t.exporting(megabytes.format(file.bytes / 1e6))}
                <Button onPress={file.stop}>{t.stop}</Button>
              </div>
            )}
          </Results>
          {isFacets && !state.isDeleted && (
            <Suspense>
              <div className={style.facets}>
                <FacetPanel
                  project={project}
                  template={template}
                  conditions={state.conditions}
                  timeZone={searchBody(found.shown).time_zone}
                  search={counted.current.search}
                  isNear={counted.current.isNear ?? false}
                  onChange={(conditions) => change({ conditions }, true)}
                  onClose={toggleFacets}
                />
              </div>
            </Suspense>
          )}
        </div>
      </div>
      <Suspense>
        {record !== null && (
          <RecordDrawer
            project={project}
            template={template.slug}
            id={record}
            onClose={close}
            steps={steps}
          />
        )}
        {isCreating && (
          <NewRecord
            project={project}
            template={template.slug}
            isOpen
            onClose={() => setCreating(false)}
            onCreated={(created) => {
              setCreating(false);
              void refreshLists(project, template.slug);
              open(created);
            }}
          />
        )}
      </Suspense>
    </div>
  );
}
