import type { InfiniteData } from "@tanstack/react-query";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { type Change, follow } from "../api/changes";
import { listKey, refreshLists, type SearchPage } from "../api/lists";
import { hasJustWritten } from "../api/ownWrites";
import { type Paced, paced } from "../api/paced";
import { queryClient, type RecordBody, useMe } from "../api/queries";
import { useSession } from "../session/session";
import {
  addPending,
  afterReading,
  type Counts,
  classifyPending,
  faded,
  type Live,
  NOTHING,
  outcome,
  type Pending,
} from "./live";
import { matchingBody } from "./state";
import type { Found } from "./useFound";
import { search } from "./useRecords";

/** Milliseconds between two requests for changed rows. */
const EVERY = 300;
/** Milliseconds after a failed request. */
const RETRY_DELAY = 5_000;
/** The number of records per request. */
const BATCH_SIZE = 200;
/** The maximum number of new records that are counted. */
export const MAX_FRESH = 500;
/** Milliseconds for which a change is marked, as long as its animation. */
const SHOWN = 5_000;
/** A list that is older than this many milliseconds when the feed connects is reloaded. */
const OLD = 2_000;

type Pages = InfiniteData<SearchPage, string | null>;

/**
 * Changes by other users, applied to the list in place: changed rows are reloaded, deleted ones stay and are marked, and
 * new ones are counted.
 * @param place the element that contains the rows
 * @param onCounts is called with the number of changes
 */
export function useLive(
  project: string,
  template: string,
  found: Found,
  areDeleted: boolean,
  container: RefObject<HTMLElement | null>,
  onCounts: (counts: Counts) => void,
): Live {
  const { key: session } = useSession();
  const ownKey = useMe(project).data?.key?.id;
  const [live, setLive] = useState(NOTHING);
  const loaded = useMemo(() => new Map(found.records.map((it) => [it.id, it])), [found.records]);
  // The values of the last render, for events between two renders.
  const latest = useRef({ found, loaded, areDeleted, live, ownKey, onCounts });
  latest.current = { found, loaded, areDeleted, live, ownKey, onCounts };
  const pending = useRef(new Map<string, Pending>());
  const flush = useRef<Paced | null>(null);

  useEffect(() => {
    const isRendered = (id: string) => {
      const name = CSS.escape(id);
      return container.current?.querySelector(`[data-record="${name}"], [data-key="${name}"]`) != null;
    };
    const read = async () => {
      const { found, loaded, areDeleted, live } = latest.current;
      const { key, isOld, query } = found;
      if (pending.current.size === 0) return;
      if (isOld || queryClient.isFetching({ queryKey: key, exact: true }) > 0) return reading.ask(EVERY);
      const all = pending.current;
      const seen = { loaded, isWhole: !query.hasNextPage, areDeleted, isRendered };
      const { due, later, lost } = classifyPending(all.values(), seen);
      const requested = live.fresh.size < MAX_FRESH ? due : due.filter(({ id }) => loaded.has(id));
      const batch = requested.slice(0, BATCH_SIZE);
      const rest = requested.slice(BATCH_SIZE);
      pending.current = new Map([...later, ...rest].map((it) => [it.id, it]));
      const records = await matching(project, template, found, batch).catch(() => null);
      if (latest.current.found.key !== key) return;
      if (records === null) {
        // Changes that arrived in the meantime are newer.
        pending.current = new Map([...all, ...pending.current]);
        return reading.ask(RETRY_DELAY);
      }
      const shown = outcome(
        latest.current.live,
        batch,
        lost,
        new Map(records.map((it) => [it.id, it])),
        latest.current.loaded,
      );
      if (shown.rows.length > 0) put(key, shown.rows);
      setLive(shown.live);
      latest.current.onCounts(shown.counts);
      if (rest.length > 0) reading.ask();
    };
    const reading = paced(read, EVERY);
    flush.current = reading;
    // Rows that are scrolled into view are requested.
    const scroll = () => pending.current.size > 0 && reading.ask();
    const element = container.current;
    element?.addEventListener("scroll", scroll, { capture: true, passive: true });
    return () => {
      element?.removeEventListener("scroll", scroll, { capture: true });
      reading.stop();
    };
  }, [project, template, container]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each session has a separate feed.
  useEffect(() => {
    const ended = new AbortController();
    const onStart = (isGap: boolean) => {
      const { dataUpdatedAt } = latest.current.found.query;
      if (isGap || (dataUpdatedAt > 0 && Date.now() - dataUpdatedAt > OLD))
        void refreshLists(project, template);
    };
    const onChanges = (changes: Change[]) => {
      const { areDeleted, ownKey } = latest.current;
      addPending(pending.current, changes, areDeleted, (change) => isOwn(change, ownKey));
      flush.current?.ask();
      // Lists that are not shown are reloaded when they are shown again.
      const others = { queryKey: listKey(project, template), refetchType: "none", type: "inactive" } as const;
      void queryClient.invalidateQueries(others);
    };
    void follow(project, template, { onStart, onChanges }, ended.signal);
    return () => ended.abort();
  }, [project, template, session]);

  // Another search has loaded current records.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the search only triggers the effect.
  useEffect(() => {
    pending.current.clear();
    setLive(NOTHING);
  }, [found.key]);

  // The mark of a change fades.
  useEffect(() => {
    if (live.marks.size > 0) setTimeout(() => setLive((now) => faded(now, live)), SHOWN);
  }, [live]);

  const { isRefetching } = found.query;
  const before = useRef<Live | null>(null);
  useEffect(() => {
    if (isRefetching) before.current = latest.current.live;
    else if (before.current !== null) {
      const known = before.current;
      before.current = null;
      if (!latest.current.found.query.isError) setLive((live) => afterReading(live, known));
    }
  }, [isRefetching]);
  return live;
}

/** Whether this tab made a change: the actor "erp sync (key 3)" used the key 3. */
const isOwn = ({ actor, source }: Change, key: number | undefined): boolean =>
  source === "app" && actor !== null && actor.endsWith(` (key ${key})`) && hasJustWritten();

/** The given records that match the search of the list, with the fields that it shows. */
async function matching(
  project: string,
  template: string,
  { body, isRanked }: Found,
  due: readonly Pending[],
): Promise<RecordBody[]> {
  if (due.length === 0) return [];
  const ids = due.map(({ id }) => id);
  return (await search(project, template, matchingBody(body, isRanked, ids))).records;
}

/** Updates these rows in the list. Its load time does not change. */
function put(key: readonly unknown[], rows: readonly RecordBody[]) {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const now = (records: RecordBody[]) => records.map((it) => byId.get(it.id) ?? it);
  queryClient.setQueryData<Pages>(
    key,
    (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, records: now(page.records) })) },
    { updatedAt: queryClient.getQueryState(key)?.dataUpdatedAt },
  );
}
