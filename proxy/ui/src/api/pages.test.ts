import { expect, test } from "vitest";
import { allPages, type PageQuery } from "./pages";

test("all pages of a list are read", async () => {
  const requested: PageQuery[] = [];
  const pages: Record<string, { items: number[]; next_cursor: string | null }> = {
    "": { items: [1, 2], next_cursor: "a" },
    a: { items: [], next_cursor: "b" },
    b: { items: [3], next_cursor: null },
  };
  const all = await allPages(
    async (page) => {
      requested.push(page);
      const found = pages[page.cursor ?? ""];
      if (found === undefined) throw new Error("no such page");
      return found;
    },
    ({ items }) => items,
  );
  expect(all).toEqual([1, 2, 3]);
  expect(requested.map(({ cursor }) => cursor)).toEqual([undefined, "a", "b"]);
});
