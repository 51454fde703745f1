import { lazy, type ReactNode, type Ref, Suspense, useCallback, useState } from "react";
import { sentence } from "../api/problem";
import type { Privilege, RecordBody, Template } from "../api/queries";
import { Button } from "../components/Button";
import { Failure, Notice } from "../components/Notice";
import { errorsOfFilters } from "../filter/errors";
import { messages } from "../language";
import { CorrectionNotice } from "./CorrectionNotice";
import type { ListColumn } from "./columns";
import { EmptyList } from "./EmptyList";
import { Footer } from "./Footer";
import { Grid, type GridHandle } from "./Grid";
import style from "./ListPage.module.css";
import type { Live } from "./live";
import { PendingCards } from "./PendingCards";
import { sortAfterClick, withSort } from "./sort";
import { startOf, startText } from "./start";
import { INITIAL, type ListState } from "./state";
import type { Found } from "./useFound";
import type { ChangeState } from "./useListState";
import type { useSelection } from "./useSelection";
import { useUnloadedPages } from "./useUnloadedPages";

const t = messages.list;
const Cards = lazy(() => import("./Cards"));

type Props = {
  project: string;
  template: Template;
  privileges: ReadonlySet<Privilege>;
  state: ListState;
  change: ChangeState;
  found: Found;
  live: Live;
  columns: readonly ListColumn[];
  selection: ReturnType<typeof useSelection>;
  /** The record in the drawer. */
  open: string | null;
  grid: Ref<GridHandle>;
  sorted: string;
  onOpen: (record: RecordBody) => void;
  onCopy: (record: RecordBody, column: ListColumn | null) => void;
  onResize: (id: string, width: number | null) => void;
  onNew: () => void;
  onMeant: (search: string) => void;
  /** Content below the records, where it does not shift them. */
  children: ReactNode;
};

/** The matching records, or the reason why there are none. */
export function Results({ project, template, state, change, found, columns, selection, ...props }: Props) {
  const [seen, setSeen] = useState({ first: 0, last: 0 });
  const see = useCallback((first: number, last: number) => setSeen({ first, last }), []);
  const { query, records, isOld, isStopped } = found;
  const again = useUnloadedPages(project, template.slug, found, state.layout === "table" ? seen : null);
  const label = template.label ?? template.slug;
  const start = found.isRanked ? null : startOf(state, template);
  const isDimmed = isOld && !isStopped;
  // The error of a filter is shown at the filter.
  const isRejected = query.isError && !found.isCutOff && !errorsOfFilters(query.error);
  return (
    <div className={style.records}>
      {isRejected && (
        <div className={style.notices}>
          <Failure error={query.error} retry={found.again} />
        </div>
      )}
      {isStopped && (
        <div className={style.notices}>
          <Notice kind="attention" actions={<Button onPress={found.again}>{t.searchAgain}</Button>}>
            {t.stopped}
          </Notice>
        </div>
      )}
      <CorrectionNotice typed={state.search.trim()} near={found.near} onSearch={props.onMeant} />
      {found.isEmpty ? (
        <div className={style.nothing}>
          <EmptyList
            project={project}
            template={template}
            isSearched={(state.search.trim() !== "" && !state.isDeleted) || state.conditions.length > 0}
            areDeleted={state.isDeleted}
            mayCreate={props.privileges.has("create")}
            onClear={() => {
              const { columns, layout, isDeleted } = state;
              change({ ...INITIAL, columns, layout, isDeleted }, true);
            }}
            onNew={props.onNew}
          />
        </div>
      ) : state.layout === "cards" && query.isPending ? (
        <PendingCards />
      ) : state.layout === "cards" ? (
        <Suspense fallback={<PendingCards />}>
          <Cards
            project={project}
            label={t.gridLabel(label)}
            display={template.display}
            columns={columns}
            records={records}
            isDimmed={isDimmed}
            ids={selection.ids}
            live={props.live}
            onSelect={selection.set}
            onOpen={props.onOpen}
            onNearEnd={found.more}
            handle={props.grid}
          />
        </Suspense>
      ) : (
        <Grid
          ref={props.grid}
          project={project}
          label={t.gridLabel(label)}
          display={template.display}
          columns={columns}
          records={records}
          total={found.total?.value ?? -1}
          hasMore={query.hasNextPage}
          isLoading={query.isPending}
          isDimmed={isDimmed}
          isSettled={found.isSettled}
          beginning={isOld ? null : JSON.stringify(found.body)}
          sort={found.isRanked ? [] : state.sort}
          isSortable={!found.isRanked}
          isSelected={selection.has}
          areAllSelected={selection.areAll}
          open={props.open}
          live={props.live}
          onSort={(id, isAdded) => change(withSort(state, sortAfterClick(state.sort, id, isAdded)))}
          onResize={props.onResize}
          onOpen={props.onOpen}
          onSelect={selection.press}
          onSelectAll={selection.pressAll}
          onClear={selection.clear}
          onCopy={props.onCopy}
          onNearEnd={found.more}
          onSeen={see}
        />
      )}
      {found.isCutOff && (
        <div className={style.notices}>
          <Notice kind="rejection" actions={<Button onPress={found.moreAgain}>{t.tryAgain}</Button>}>
            {t.loadFailed} {sentence(query.error)}
          </Notice>
        </div>
      )}
      {again.isError && (
        <div className={style.notices}>
          <Notice kind="rejection" actions={<Button onPress={() => again.refetch()}>{t.tryAgain}</Button>}>
            {t.loadAgainFailed} {sentence(again.error)}
          </Notice>
        </div>
      )}
      {props.children}
      <Footer
        seen={seen}
        isWhole={state.layout === "cards"}
        total={found.total}
        loaded={records.length}
        isRanked={found.isRanked}
        isCounting={found.isCounting}
        from={start === null ? "" : t.countedFrom(startText(start), start.isDescending)}
        sorted={props.sorted}
        onCount={found.count}
      />
    </div>
  );
}
