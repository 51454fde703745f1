import { expect, test } from "vitest";
import { decodeState, encodeState, queryWith, recordParts } from "./address";
import { INITIAL, type ListState, OF_PROJECT } from "./state";

const full: ListState = {
  search: "river & “sea” 100%",
  mode: "both",
  conditions: [
    { field: "city", operator: "in", value: ["Bern", "Basel, Stadt"] },
    {
      or: [
        { field: "credit", operator: "gt", value: 5 },
        { field: "company", operator: "empty" },
      ],
    },
  ],
  timeZone: null,
  sort: [
    { field: "price", isDescending: true },
    { field: "company.name", isDescending: false },
  ],
  start: "100.50",
  isDeleted: true,
  view: "big",
  layout: "cards",
  columns: [{ id: "name", width: 240 }, { id: "city" }],
};

test("initial state has an empty query", () => {
  expect(encodeState(INITIAL)).toBe("");
  expect(decodeState("")).toEqual(INITIAL);
});

test("state round-trips through the address", () => {
  expect(decodeState(encodeState(full))).toEqual(full);
});

test("address is readable", () => {
  const state = { ...full, search: "old masters", conditions: [] };
  expect(encodeState(state)).toBe(
    "q=old+masters&m=both&s=-price,company.name&start=100.50&deleted=yes&view=big&l=cards&c=name.240,city",
  );
});

test("invalid parts of an address are ignored", () => {
  const state = decodeState("m=magic&s=,-,a%20b&l=list&c=,DROP,name.1,name.9,city.999999&x=1");
  expect(state).toEqual({ ...INITIAL, columns: [{ id: "name" }, { id: "city" }] });
});

test("parameters of the open record are kept in the address", () => {
  expect(recordParts("q=river&tab=history&record=page&x=1")).toBe("record=page&tab=history");
  expect(queryWith(["q=river", recordParts("tab=history")])).toBe("?q=river&tab=history");
  expect(queryWith(["", recordParts("q=river")])).toBe("");
});

test("address contains a time zone other than the user's", () => {
  const today = { ...INITIAL, conditions: [{ field: "seen", operator: "today" as const }] };
  expect(encodeState(today)).toBe("f=seen:today");
  for (const timeZone of ["Europe/Zurich", OF_PROJECT]) {
    const address = encodeState({ ...today, timeZone });
    expect(address).toBe(`f=seen:today&z=${timeZone}`);
    expect(decodeState(address)).toEqual({ ...today, timeZone });
    expect(encodeState({ ...INITIAL, timeZone })).toBe("");
  }
  expect(decodeState("f=seen:today&z=%2B02:00")).toEqual(today);
});
