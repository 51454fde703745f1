import { beforeEach, expect, test, vi } from "vitest";

const kept = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => kept.set(name, value),
  removeItem: (name: string) => kept.delete(name),
});
const { anotherKey, currentSession, refuse, seeAs, seeAsMyself, signIn, signOut } = await import("./session");
const nobodyWaits = new AbortController().signal;

beforeEach(() => signOut());

test("who signs out leaves nothing in the tab", () => {
  signIn("first");
  expect(kept.size).toBe(1);
  signOut();
  expect(kept.size).toBe(0);
});

test("a refused key that is no longer used ends no session", () => {
  signIn("first");
  signIn("second");
  refuse("first");
  expect(currentSession()).toMatchObject({ key: "second", refused: false });
});

test("who sees as a role returns to the key of their own, also after a second role", () => {
  signIn("mine");
  seeAs("sales", "of sales");
  seeAs("support", "of support");
  expect(currentSession()).toMatchObject({ key: "of support", own: "mine" });
  seeAsMyself();
  expect(currentSession()).toEqual({ key: "mine", own: null, role: null, refused: false });
});

test("what waits for another key goes on with it, or with the same one if that is accepted again", async () => {
  for (const next of ["second", "first"]) {
    signIn("first");
    refuse("first");
    const waiting = anotherKey("first", nobodyWaits);
    signIn(next);
    expect(await waiting).toBe(true);
  }
});

test("wait for another key ends with the session, and when it is no longer needed", async () => {
  signIn("first");
  refuse("first");
  const waiting = anotherKey("first", nobodyWaits);
  const page = new AbortController();
  const left = anotherKey("first", page.signal);
  page.abort();
  await expect(left).rejects.toThrow("no longer needed");
  signOut();
  expect(await waiting).toBe(false);
});
