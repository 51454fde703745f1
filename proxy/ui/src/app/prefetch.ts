/** Loads the data of the first page before rendering, so that it renders only once. */
import { meQuery, queryClient, templatesQuery } from "../api/queries";
import { decodeState } from "../list/address";
import { neededFields, shownColumns } from "../list/columns";
import { withUsableStart } from "../list/start";
import { firstPageBody } from "../list/state";
import { recordsQuery } from "../list/useRecords";
import { visitOf } from "../navigation/lastVisit";
import { currentSession } from "../session/session";

/** Milliseconds until the page is rendered without its data. */
const MAX_WAIT = 100;

async function read() {
  const { key } = currentSession();
  const { project, template: slug } = visitOf(location.pathname);
  if (key === null || project === undefined) return;
  const me = queryClient.prefetchQuery(meQuery(key, project));
  const template = (await queryClient.fetchQuery(templatesQuery(key, project))).find(
    (it) => it.slug === slug,
  );
  if (template !== undefined) {
    const state = withUsableStart(decodeState(location.search), template);
    const fields = neededFields(template, shownColumns(template, state.columns));
    if (firstPageBody(state, fields) !== null)
      await queryClient.prefetchInfiniteQuery(recordsQuery(project, template.slug, state, fields));
  }
  await me;
}

/** Resolves when the data has loaded, or after `MAX_WAIT`. The page shows errors. */
export function prefetchPage(): Promise<void> {
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, MAX_WAIT));
  return Promise.race([read().catch(() => {}), timeout]);
}
