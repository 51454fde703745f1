import { beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem() {}, removeItem() {} });
const { signIn } = await import("../session/session");
const { canUndo, offerUndo, undoLast, withdrawUndo } = await import("./undo");

beforeEach(() => signIn("mine"));

test("last change is undone only once", () => {
  const [first, second] = [vi.fn(), vi.fn()];
  offerUndo("a", first);
  offerUndo("b", second);
  undoLast();
  undoLast();
  expect(first).not.toHaveBeenCalled();
  expect(second).toHaveBeenCalledTimes(1);
});

test("change that was undone elsewhere is not undone again", () => {
  const run = vi.fn();
  offerUndo("a", run);
  withdrawUndo("other");
  withdrawUndo("a");
  undoLast();
  expect(run).not.toHaveBeenCalled();
});

test("another user cannot undo the change", () => {
  const run = vi.fn();
  offerUndo("a", run);
  signIn("other");
  undoLast();
  expect(run).not.toHaveBeenCalled();
});

test("change can be undone once, by its author", () => {
  expect(canUndo()).toBe(false);
  offerUndo("a", vi.fn());
  expect(canUndo()).toBe(true);
  undoLast();
  expect(canUndo()).toBe(false);
  offerUndo("a", vi.fn());
  signIn("other");
  expect(canUndo()).toBe(false);
});
