import { expect, test } from "vitest";
import { dropFromLists, listKey, showInLists } from "./lists";
import { queryClient, type RecordBody } from "./queries";

const record = (id: string, name: string) => ({ id, attribute_values: { name } }) as unknown as RecordBody;

test("changed record is updated in every list, but not in counts and facets", () => {
  const list = [...listKey("crm", "customers"), { sort: "name" }];
  const count = [...listKey("crm", "customers"), "count", "exact", {}];
  const rail = [...listKey("crm", "customers"), "rail"];
  queryClient.setQueryData(list, {
    pages: [{ records: [record("1", "a"), record("2", "b")] }],
    pageParams: [undefined],
  });
  queryClient.setQueryData(count, { total: 2 });
  queryClient.setQueryData(rail, 2);
  showInLists("crm", "customers", record("2", "c"));
  expect(queryClient.getQueryData(list)).toMatchObject({
    pages: [{ records: [record("1", "a"), record("2", "c")] }],
  });
  dropFromLists("crm", "customers", new Set(["1"]));
  expect(queryClient.getQueryData(list)).toMatchObject({ pages: [{ records: [record("2", "c")] }] });
  expect(queryClient.getQueryData(count)).toEqual({ total: 2 });
  expect(queryClient.getQueryData(rail)).toBe(2);
});
