import { LayoutGrid, ListPlus, Rows3 } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { listKey } from "../api/lists";
import { sentence } from "../api/problem";
import { type Privilege, queryClient, type RecordBody, type Template } from "../api/queries";
import { useOnScreen } from "../code/current";
import { Button, IconButton } from "../components/Button";
import { Failure, Notice } from "../components/Notice";
import { sayDone } from "../components/toast";
import { words } from "../language";
import { addresses } from "../navigation/addresses";
import { useShortcuts } from "../navigation/shortcuts";
import { valueText } from "../value/text";
import { ColumnChooser } from "./ColumnChooser";
import { KEY, keptColumns, type ListColumn, neededFields, shownColumns } from "./columns";
import { Footer } from "./Footer";
import { Grid, type GridHandle } from "./Grid";
import { valueOf } from "./GridRow";
import style from "./ListPage.module.css";
import { NothingHere } from "./NothingHere";
import { SearchBar } from "./SearchBar";
import { INITIAL, isRanked, pressedSort, searchBody } from "./state";
import { useListState } from "./useListState";
import { recordsOf, totalOf, useExactCount, useRecords } from "./useRecords";
import { useSelection } from "./useSelection";

const t = words.list;

type Props = {
  project: string;
  template: Template;
  rights: ReadonlySet<Privilege>;
  /** The record in the drawer. */
  record: string | null;
};

/** The list of a template that may be read. */
export function RecordList({ project, template, rights, record }: Props) {
  const [state, change] = useListState(project, template.slug);
  const [, navigate] = useLocation();
  const columns = useMemo(() => shownColumns(template, state.columns), [template, state.columns]);
  const fields = useMemo(() => neededFields(template, columns), [template, columns]);
  const { query, body } = useRecords(project, template.slug, state, fields);
  const [countAsked, setCountAsked] = useState<string | null>(null);
  const searched = JSON.stringify({ ...searchBody(state), sort: null });
  const count = useExactCount(project, template.slug, state, countAsked === searched);
  const [seen, setSeen] = useState({ first: 0, last: 0 });
  const field = useRef<HTMLInputElement>(null);
  const grid = useRef<GridHandle>(null);

  const pages = query.data?.pages;
  const records = useMemo(() => recordsOf(pages ?? []), [pages]);
  const isOld = query.isPlaceholderData;
  const total = useMemo(() => totalOf(pages ?? [], count.data), [pages, count.data]);
  const ranked = isRanked(state);
  const selection = useSelection(records, searched);
  const label = template.label ?? template.slug;
  const isStopped = isOld && !query.isFetching && !query.isError;

  useEffect(() => {
    document.title = `${label} · keyed`;
  }, [label]);
  useOnScreen(
    {
      method: "POST",
      path: `/v1/entities/search/${encodeURIComponent(template.slug)}`,
      project,
      body,
    },
    "list",
  );
  useShortcuts(
    [
      { keys: "/", label: t.searchIn(label), run: () => field.current?.focus() },
      { keys: "x", label: t.clearSearch, run: () => change({ search: "" }) },
    ],
    "list",
  );

  const keep = useCallback(
    (next: ListColumn[] | null) => change({ columns: next === null ? null : keptColumns(template, next) }),
    [change, template],
  );
  const resize = useCallback(
    (id: string, width: number | null) => {
      const initial = shownColumns(template, [{ id }])[0]?.width ?? 0;
      keep(columns.map((column) => (column.id === id ? { ...column, width: width ?? initial } : column)));
    },
    [keep, columns, template],
  );
  const open = useCallback(
    ({ id }: RecordBody) => navigate(addresses.record(project, template.slug, id) + window.location.search),
    [navigate, project, template.slug],
  );
  const copy = async (from: RecordBody, column: ListColumn | null) => {
    const text =
      column === null
        ? (from.external_key ?? "")
        : valueText(column.attribute, valueOf(from, column), from.attribute_values?.[column.id]);
    if (text === "") return;
    await navigator.clipboard.writeText(text);
    sayDone(t.copied(text));
  };
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const see = useCallback((first: number, last: number) => setSeen({ first, last }), []);
  const stop = () => queryClient.cancelQueries({ queryKey: listKey(project, template.slug) });

  const labels = new Map<string, string>([[KEY, t.key], ...columns.map((it) => [it.id, it.label] as const)]);
  const sorted = ranked
    ? ""
    : state.sort.length === 0 && state.search.trim() !== ""
      ? ""
      : t.sortedBy(state.sort.map((it) => ({ ...it, label: labels.get(it.field) ?? it.field })));
  const isSearched = state.search.trim() !== "" || state.conditions.length > 0;
  const isEmpty = query.isSuccess && !isOld && records.length === 0;

  return (
    <div className={style.page}>
      <div className={style.top}>
        <header className={style.head}>
          <div className={style.title}>
            <h1 dir="auto">{label}</h1>
            <span className={style.count} aria-live="polite">
              {total && !isOld && !ranked && t.counted(total.value, total.isExact)}
            </span>
          </div>
          {rights.has("create") && (
            <Button kind="main" icon={ListPlus} isDisabled>
              {t.newRecord}
            </Button>
          )}
        </header>
        <div className={style.tools}>
          <SearchBar
            label={t.searchIn(label)}
            search={state.search}
            mode={state.mode}
            hasMeaning={(template.embed?.length ?? 0) > 0}
            field={field}
            onSearch={(search) => change({ search })}
            onMode={(mode) => change({ mode })}
            onLeave={() => grid.current?.focus()}
          />
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
          <ColumnChooser template={template} columns={columns} onChange={keep} />
        </div>
      </div>
      <div className={style.main}>
        <div className={style.records}>
          {query.isError && !isFetchNextPageError && (
            <div className={style.notices}>
              <Failure error={query.error} retry={() => query.refetch()} />
            </div>
          )}
          {isStopped && (
            <div className={style.notices}>
              <Notice
                kind="attention"
                actions={<Button onPress={() => query.refetch()}>{t.searchAgain}</Button>}
              >
                {t.stopped}
              </Notice>
            </div>
          )}
          {isEmpty ? (
            <NothingHere
              project={project}
              template={template}
              isSearched={isSearched}
              mayCreate={rights.has("create")}
              onClear={() => change({ ...INITIAL, columns: state.columns, layout: state.layout }, true)}
            />
          ) : (
            <Grid
              ref={grid}
              project={project}
              label={t.gridLabel(label)}
              display={template.display}
              columns={columns}
              records={records}
              total={total?.value ?? -1}
              hasMore={hasNextPage}
              isLoading={query.isPending}
              isDimmed={isOld && !isStopped}
              beginning={isOld ? "" : JSON.stringify(body)}
              sort={ranked ? [] : state.sort}
              isSortable={!ranked}
              isSelected={selection.has}
              areAllSelected={selection.areAll}
              open={record}
              onSort={(id, isAdded) => change({ sort: pressedSort(state.sort, id, isAdded) })}
              onResize={resize}
              onOpen={open}
              onSelect={selection.press}
              onSelectAll={selection.pressAll}
              onClear={selection.clear}
              onCopy={copy}
              onNearEnd={more}
              onSeen={see}
            />
          )}
          {isFetchNextPageError && (
            <div className={style.notices}>
              <Notice kind="refusal" actions={<Button onPress={() => fetchNextPage()}>{t.tryAgain}</Button>}>
                {t.loadFailed} {sentence(query.error)}
              </Notice>
            </div>
          )}
          <Footer
            seen={seen}
            total={isOld ? null : total}
            loaded={records.length}
            isRanked={ranked}
            isSearching={query.isFetching && !isFetchingNextPage}
            isCounting={count.isFetching}
            sorted={sorted}
            onCount={() => setCountAsked(searched)}
            onStop={stop}
          />
        </div>
      </div>
    </div>
  );
}
