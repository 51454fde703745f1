import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import type { RecordBody, Template } from "../api/queries";
import { Fields } from "../filter/fields";
import { reasonsOf } from "./explanation";

const attribute = (slug: string, type: string, label: string) => ({ id: slug, slug, type, label });
const templates = [
  {
    slug: "works",
    attributes: [attribute("year", "number", "Year"), attribute("artist", "string", "Artist")],
  },
] as unknown as Template[];
const context = { fields: new Fields(templates, "works"), locale: "en-GB" };
const record = { id: "1", template_slug: "works", attributes: { year: 181 } } as unknown as RecordBody;

const year = { field: "year", operator: "gt", value: 190 };
const turner = { field: "artist", operator: "eq", value: "Turner" };
const grant = (scope: unknown, conditions: unknown[], holds = false) => ({
  target: "museum.works",
  role: "viewers",
  privilege: "read",
  scope,
  holds,
  conditions,
});
const explained = (grants: unknown[], more = {}) =>
  ({
    sees: false,
    may: [],
    record: "live",
    because: 'no scope includes the record: read on museum.works to viewers requires {"pointer": "/0"}',
    grants,
    ...more,
  }) as unknown as Schemas["Access"];
const read = (it: Schemas["Access"]) => reasonsOf(it, record, context);

test("failed condition is explained with the record's value", () => {
  expect(read(explained([grant(year, [{ ...year, holds: false }])]))).toEqual([
    "Hidden: Year must be more than 190; this record has 181.",
  ]);
});

test("satisfied conditions are not explained, empty values are", () => {
  const conditions = [
    { ...year, value: 100, holds: true },
    { ...turner, holds: false },
  ];
  expect(read(explained([grant({ filters: [{ ...year, value: 100 }, turner] }, conditions)]))).toEqual([
    "Hidden: Artist must be Turner; this record has no value.",
  ]);
});

test("group of conditions gives one reason", () => {
  const either = { or: [turner, year] };
  expect(read(explained([grant(either, [])]))).toEqual([
    "Hidden: the record must match: Artist is Turner or Year is more than 190.",
  ]);
});

test("each grant gives a reason", () => {
  const both = [grant(year, [{ ...year, holds: false }]), grant(turner, [{ ...turner, holds: false }])];
  expect(read(explained(both))).toHaveLength(2);
});

test("grant that gives access is shown", () => {
  const shown = explained([grant(null, [], true)], { sees: true, may: ["read"] });
  expect(read(shown)).toEqual(["Visible through the grant on museum.works to viewers."]);
});

test("missing grant is explained without SQL", () => {
  expect(read(explained([], { because: "read was not granted to the role" }))).toEqual([
    "Hidden: the role has no grant to read this template. An administrator can add one under Access.",
  ]);
});
