import { expect, test } from "vitest";
import type { Finding } from "../api/administration";
import { bySeverity, isStatement } from "./findings";

const finding = (severity: Finding["severity"], message: string) =>
  ({ check: "jobs", severity, message, remedy: "" }) as Finding;

test("findings are grouped, most severe first", () => {
  const groups = bySeverity([finding("note", "a"), finding("error", "b"), finding("note", "c")]);
  expect(groups.map(({ severity, findings }) => [severity, findings.length])).toEqual([
    ["error", 1],
    ["note", 2],
  ]);
});

test("SQL remedy is distinguished from prose", () => {
  expect(isStatement("select keyed.run_jobs();")).toBe(true);
  expect(isStatement("ALTER SYSTEM SET max_wal_size = '4.5GB';")).toBe(true);
  expect(isStatement("Set KEYED_WORKERS to 2, and start the service again.")).toBe(false);
  expect(isStatement("select the role first. Then run it;")).toBe(false);
});
