/** What the first page shows is read before it is rendered, so that it is rendered once. */
import { meQuery, queryClient, templatesQuery } from "../api/queries";
import { decodeState } from "../list/address";
import { neededFields, shownColumns } from "../list/columns";
import { withUsableStart } from "../list/start";
import { isRanked } from "../list/state";
import { recordsQuery } from "../list/useRecords";
import { placeOf } from "../navigation/place";
import { currentSession } from "../session/session";

/** So long, in milliseconds, the page waits for it. Then it shows that it is loading. */
const PATIENCE = 100;

async function read() {
  const { key } = currentSession();
  const { project, template: slug } = placeOf(location.pathname);
  if (key === null || project === undefined) return;
  const me = queryClient.prefetchQuery(meQuery(key, project));
  const template = (await queryClient.fetchQuery(templatesQuery(key, project))).find(
    (it) => it.slug === slug,
  );
  if (template !== undefined) {
    const state = decodeState(location.search);
    const fields = neededFields(template, shownColumns(template, state.columns));
    // A view is opened first, and the service may have no way to search by meaning: the list says what it asks for.
    if (state.view === null && !isRanked(state))
      await queryClient.prefetchInfiniteQuery(
        recordsQuery(project, template.slug, withUsableStart(state, template), fields),
      );
  }
  await me;
}

/** Ends when the first page can be shown as a whole, or when that takes longer. What is refused, the page says. */
export function readFirst(): Promise<void> {
  const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE));
  return Promise.race([read().catch(() => {}), patience]);
}
