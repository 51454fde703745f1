import { expect, test } from "vitest";
import type { Change } from "../api/changes";
import type { RecordBody } from "../api/queries";
import { addPending, afterReading, classifyPending, NOTHING, outcome, type Pending } from "./live";

const change = (id: string, operation: Change["operation"], more: Partial<Change> = {}): Change => ({
  id,
  template_id: "1",
  template_slug: "customers",
  external_key: null,
  operation,
  at: "2026-01-31T12:00:00.000000Z",
  actor: "Anna (key 3)",
  source: "api",
  changed: ["name"],
  ...more,
});
const record = (id: string, name: string): RecordBody => ({ id, external_key: id, attributes: { name } });
const byId = (...records: RecordBody[]) => new Map(records.map((it) => [it.id, it]));

function pendingOf(changes: Change[], areDeleted = false, isOwn = false): Pending[] {
  const pending = new Map<string, Pending>();
  addPending(pending, changes, areDeleted, () => isOwn);
  return [...pending.values()];
}
const ids = (pending: readonly Pending[]) => pending.map(({ id }) => id).join("");
const seen = {
  loaded: byId(record("a", "Ada"), record("b", "Ben")),
  isWhole: false,
  areDeleted: false,
  isRendered: (id: string) => id === "a",
};

test("rendered rows are requested immediately, others when scrolled to", () => {
  const { due, later } = classifyPending(pendingOf([change("a", "update"), change("b", "update")]), seen);
  expect([ids(due), ids(later)]).toEqual(["a", "b"]);
});

test("new record is requested, changed record that is not loaded only if the list is complete", () => {
  const pending = pendingOf([change("c", "create"), change("c", "update"), change("d", "update")]);
  expect(ids(classifyPending(pending, seen).due)).toBe("c");
  expect(ids(classifyPending(pending, { ...seen, isWhole: true }).due)).toBe("cd");
});

test("deleted record leaves the list of live records and joins that of deleted ones", () => {
  const deleted = change("a", "delete");
  expect(ids(classifyPending(pendingOf([deleted]), seen).lost)).toBe("a");
  const pending = pendingOf([change("c", "delete")], true);
  expect(ids(classifyPending(pending, { ...seen, areDeleted: true }).due)).toBe("c");
});

test("changed row is marked with the changed fields and the author", () => {
  const due = pendingOf([change("a", "update"), change("a", "update", { changed: ["city"] })]);
  const now = record("a", "Ada Keller");
  const { rows, live, counts } = outcome(NOTHING, due, [], byId(now), seen.loaded);
  expect(rows).toEqual([now]);
  expect(live.marks.get("a")).toEqual({
    kind: "changed",
    fields: new Set(["name", "city"]),
    actor: "Anna (key 3)",
  });
  expect(counts).toEqual({ changed: 1, lost: 0 });
});

test("unchanged row is not marked", () => {
  const { rows, live } = outcome(
    NOTHING,
    pendingOf([change("a", "update")]),
    [],
    byId(record("a", "Ada")),
    seen.loaded,
  );
  expect([rows.length, live.marks.size]).toEqual([0, 0]);
});

test("change by this tab is not marked", () => {
  const due = pendingOf([change("a", "update")], false, true);
  const { rows, live, counts } = outcome(NOTHING, due, [], byId(record("a", "Eve")), seen.loaded);
  expect([rows.length, live.marks.size, counts.changed]).toEqual([1, 0, 0]);
});

test("record that no longer matches stays marked until it matches again", () => {
  const due = pendingOf([change("a", "update")]);
  const left = outcome(NOTHING, due, [], new Map(), seen.loaded);
  expect(left.live.marks.get("a")?.kind).toBe("left");
  const back = outcome(left.live, due, [], byId(record("a", "Ada")), seen.loaded);
  expect(back.live.marks.get("a")?.kind).toBe("changed");
});

test("matching new record is counted until it is deleted or no longer matches", () => {
  const due = pendingOf([change("c", "create"), change("d", "create"), change("e", "create")]);
  const found = byId(record("c", "Cy"), record("d", "Di"));
  const { live } = outcome(NOTHING, due, [], found, seen.loaded);
  expect(live.fresh).toEqual(new Set(["c", "d"]));
  const lost = pendingOf([change("c", "delete")]);
  const others = pendingOf([change("d", "create")]);
  expect(outcome(live, others, lost, new Map(), seen.loaded).live).toEqual(NOTHING);
});

test("lost record is counted once", () => {
  const lost = pendingOf([change("a", "delete")]);
  const once = outcome(NOTHING, [], lost, new Map(), seen.loaded);
  expect(once.counts.lost).toBe(1);
  expect(once.live.marks.get("a")?.kind).toBe("deleted");
  expect(outcome(once.live, [], lost, new Map(), seen.loaded).counts.lost).toBe(0);
});

test("reloading a list removes earlier marks, not those of changes during the reload", () => {
  const lost = (id: string) => pendingOf([change(id, "delete")]);
  const fresh = pendingOf([change("c", "create")]);
  const before = outcome(NOTHING, fresh, lost("a"), byId(record("c", "Cy")), seen.loaded).live;
  const during = outcome(before, [], lost("b"), new Map(), seen.loaded).live;
  const after = afterReading(during, before);
  expect([...after.marks].map(([id, { kind }]) => [id, kind])).toEqual([
    ["b", "deleted"],
    ["c", "new"],
  ]);
  expect(after.fresh.size).toBe(0);
});
