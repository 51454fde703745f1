import { expect, test } from "vitest";
import { type Part, plan } from "./grantPlan";

const bern = { filters: [{ field: "city", operator: "eq", value: "Bern" }] };
const readBern: Part = { privileges: ["read", "update"], scope: bern };

test("new scope or additional privilege is granted without revoking", () => {
  const wider: Part = { privileges: ["read", "update"], scope: null };
  expect(plan([readBern], readBern, wider)).toEqual([{ kind: "grant", ...wider }]);
  const further: Part = { privileges: ["read", "update", "delete"], scope: bern };
  expect(plan([readBern], readBern, further)).toEqual([{ kind: "grant", ...further }]);
});

test("privilege is removed by revoking all and granting the rest", () => {
  const other: Part = { privileges: ["delete"], scope: null };
  const less: Part = { privileges: ["read"], scope: bern };
  expect(plan([readBern, other], readBern, less)).toEqual([
    { kind: "revoke" },
    { kind: "grant", ...other },
    { kind: "grant", ...less },
  ]);
  expect(plan([readBern, other], readBern, null)).toEqual([{ kind: "revoke" }, { kind: "grant", ...other }]);
  expect(plan([readBern], readBern, null)).toEqual([{ kind: "revoke" }]);
});

test("define is granted without a scope", () => {
  expect(plan([], null, { privileges: ["read", "define"], scope: bern })).toEqual([
    { kind: "grant", privileges: ["read"], scope: bern },
    { kind: "grant", privileges: ["define"], scope: null },
  ]);
});

test("unchanged grant needs no request", () => {
  expect(plan([readBern], readBern, { privileges: ["update", "read"], scope: { ...bern } })).toEqual([]);
});

test("privilege that moves to another scope is removed from the earlier one", () => {
  const all: Part = { privileges: ["delete"], scope: null };
  const moved: Part = { privileges: ["read", "delete"], scope: bern };
  expect(plan([readBern, all], readBern, moved)).toEqual([{ kind: "revoke" }, { kind: "grant", ...moved }]);
});
