import { beforeEach, expect, test, vi } from "vitest";

const kept = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => kept.set(name, value),
  removeItem: (name: string) => kept.delete(name),
});
const { anotherKey, currentSession, markRejected, seeAs, seeAsMyself, signIn, signOut } = await import(
  "./session"
);
const nobodyWaits = new AbortController().signal;

beforeEach(() => signOut());

test("sign-out clears the tab", () => {
  signIn("first");
  expect(kept.size).toBe(1);
  signOut();
  expect(kept.size).toBe(0);
});

test("rejection of an unused key does not end the session", () => {
  signIn("first");
  signIn("second");
  markRejected("first");
  expect(currentSession()).toMatchObject({ key: "second", rejected: false });
});

test("viewing as roles returns to the own key", () => {
  signIn("mine");
  seeAs("sales", "of sales");
  seeAs("support", "of support");
  expect(currentSession()).toMatchObject({ key: "of support", own: "mine" });
  seeAsMyself();
  expect(currentSession()).toEqual({ key: "mine", own: null, role: null, rejected: false });
});

test("waiting request continues with the next accepted key", async () => {
  for (const next of ["second", "first"]) {
    signIn("first");
    markRejected("first");
    const waiting = anotherKey("first", nobodyWaits);
    signIn(next);
    expect(await waiting).toBe(true);
  }
});

test("waiting for another key ends with the session, or on abort", async () => {
  signIn("first");
  markRejected("first");
  const waiting = anotherKey("first", nobodyWaits);
  const page = new AbortController();
  const left = anotherKey("first", page.signal);
  page.abort();
  await expect(left).rejects.toThrow("no longer needed");
  signOut();
  expect(await waiting).toBe(false);
});
