import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import type { RecordBody } from "../api/queries";
import { deleteMany, MAX_BATCH, pagesOf, type Service, setMany, undoSet } from "./bulk";

type Row = { id: string; city: string | null };

/** A service with rows that returns pages by id and rejects the operations in `rejects`. */
function service(rows: Row[], rejects: (id: string) => boolean = () => false) {
  const batches: number[] = [];
  const record = ({ id, city }: Row): RecordBody => ({ id, external_key: null, attributes: { city } });
  const it: Service = {
    search: async ({ cursor, filters, limit = 100 }) => {
      const [filter] = (filters ?? []) as { field: string; value: string[] }[];
      const found = rows.filter(
        ({ id }) =>
          (cursor ? id > cursor : true) && (filter?.field === "id" ? filter.value.includes(id) : true),
      );
      const page = found.slice(0, limit);
      const hasMore = found.length > limit;
      return {
        records: page.map(record),
        has_more: hasMore,
        next_cursor: hasMore ? (page.at(-1)?.id ?? null) : null,
        total: null,
      };
    },
    batch: async (operations) => {
      batches.push(operations.length);
      const results = operations.map(({ id = "", op, attributes }, index) => {
        if (rejects(id)) {
          const error = { code: "x", detail: "It is rejected", status: 422, title: "", type: "" };
          return { index, id: null, status: 422, created: false, error };
        }
        const at = rows.findIndex((row) => row.id === id);
        const row = rows[at];
        if (op === "delete") rows.splice(at, 1);
        else if (row) row.city = (attributes?.city ?? null) as string | null;
        return { index, id, status: 200, created: false };
      });
      return { errors: results.some((result) => "error" in result), results } as Schemas["BatchReport"];
    },
    restore: async () => undefined,
    sentence: String,
  };
  return { it, batches };
}

const rowsOf = (n: number): Row[] =>
  Array.from({ length: n }, (_, at) => ({ id: String(at).padStart(6, "0"), city: `City ${at}` }));
const silent = () => {};
const never = new AbortController().signal;
const all = { kind: "all" as const, body: {} };

test("deletion of all matching records reads them page by page", async () => {
  const rows = rowsOf(2500);
  const { it, batches } = service(rows);
  const outcome = await deleteMany(it, "t", all, never, silent);
  expect(outcome.done.length).toBe(2500);
  expect(rows).toEqual([]);
  expect(batches).toEqual([MAX_BATCH, MAX_BATCH, 500]);
});

test("bulk change reports errors per record", async () => {
  const { it } = service(rowsOf(3), (id) => id === "000001");
  const outcome = await deleteMany(it, "t", all, never, silent);
  expect(outcome.done).toEqual(["000000", "000002"]);
  expect(outcome.rejected).toEqual([{ id: "000001", name: "000001", reason: "It is rejected." }]);
});

test("stopped bulk change keeps its results", async () => {
  const rows = rowsOf(2500);
  const stop = new AbortController();
  const outcome = await deleteMany(service(rows).it, "t", all, stop.signal, () => stop.abort());
  expect(outcome.isStopped).toBe(true);
  expect(outcome.done.length).toBe(MAX_BATCH);
  expect(rows.length).toBe(1500);
});

test("undo gives each record its former value", async () => {
  const rows = rowsOf(1200);
  const { it } = service(rows);
  const { outcome, former } = await setMany(it, "t", all, "city", "Bern", never, silent);
  expect(outcome.done.length).toBe(1200);
  expect(rows.every(({ city }) => city === "Bern")).toBe(true);
  const undone = await undoSet(it, "t", former, "changed", never, silent);
  expect(undone.done.length).toBe(1200);
  expect(rows).toEqual(rowsOf(1200));
});

test("undo skips a value that another user has changed since, and says so", async () => {
  const rows = rowsOf(3);
  const { it } = service(rows);
  const { former } = await setMany(it, "t", all, "city", "Bern", never, silent);
  const [first] = rows;
  if (first) first.city = "Basel";
  const undone = await undoSet(it, "t", former, "changed", never, silent);
  expect(undone.rejected).toEqual([{ id: "000000", name: "000000", reason: "changed" }]);
  expect(rows.map(({ city }) => city)).toEqual(["Basel", "City 1", "City 2"]);
});

test("undo recognizes a value of another user", async () => {
  const rows = rowsOf(1);
  const { it } = service(rows);
  const { former } = await setMany(it, "t", all, "city", "Bern", never, silent);
  const [only] = rows;
  if (only) only.city = "Basel";
  const undone = await undoSet(it, "t", former, "changed", never, silent);
  expect(undone.rejected).toEqual([{ id: "000000", name: "000000", reason: "changed" }]);
  expect(undone.done).toEqual([]);
  expect(rows.map(({ city }) => city)).toEqual(["Basel"]);
});

test("undo recognizes a value in its stored form", async () => {
  const rows = rowsOf(2);
  const { it } = service(rows);
  const { former } = await setMany(it, "t", all, "city", "2024-01-01T01:00:00.000+01:00", never, silent);
  for (const row of rows) row.city = "2024-01-01T00:00:00Z";
  const undone = await undoSet(it, "t", former, "changed", never, silent);
  expect(undone.done.length).toBe(2);
  expect(rows).toEqual(rowsOf(2));
});

test("records of a list are processed in batches", async () => {
  const records = rowsOf(1500).map(({ id }) => ({ id, external_key: null }));
  const sizes: number[] = [];
  for await (const page of pagesOf(service([]).it, { kind: "some", records }, [], never))
    sizes.push(page.length);
  expect(sizes).toEqual([MAX_BATCH, 500]);
});
