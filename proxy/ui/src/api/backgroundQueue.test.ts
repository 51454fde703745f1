import { expect, test } from "vitest";
import { inBackground } from "./backgroundQueue";

test("two tasks run concurrently, the others follow in order, even after a failure", async () => {
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const work = (n: number) =>
    inBackground(() => {
      begun.push(n);
      return new Promise<void>((resolve, reject) => ends.push(n === 1 ? () => reject(new Error()) : resolve));
    });
  const all = [1, 2, 3, 4].map((n) => work(n).catch(() => {}));
  await Promise.resolve();
  expect(begun).toEqual([1, 2]);
  ends[0]?.();
  await all[0];
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3]);
  ends[1]?.();
  ends[2]?.();
  await Promise.all([all[1], all[2]]);
  expect(begun).toEqual([1, 2, 3, 4]);
  ends[3]?.();
  await all[3];
});
