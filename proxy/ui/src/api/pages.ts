/** Lists that the service returns page by page. */
export type PageQuery = { limit: number; cursor?: string };

/** The maximum number of entries per page. */
const LIMIT = 1000;

/** The entries of all pages, in order. */
export async function allPages<Page extends { next_cursor: string | null }, Entry>(
  ask: (page: PageQuery) => Promise<Page>,
  entriesOf: (page: Page) => readonly Entry[],
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await ask(cursor === null ? { limit: LIMIT } : { limit: LIMIT, cursor });
    entries.push(...entriesOf(page));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return entries;
}
