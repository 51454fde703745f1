import assert from "node:assert/strict";
import { browse, colleague, importMany, input, list, signIn } from "../browser.mjs";

await importMany(200);
const { ask } = colleague();
const create = (external_key, attributes) =>
  ask("POST", "/entities/template/customers", { external_key, attributes });

/** A list with a connected change feed. */
async function open(page, query) {
  const feed = page.waitForResponse(/\/v1\/changes/);
  await page.goto(input.address + list("customers") + query);
  await feed;
}

await browse(async (page) => {
  await signIn(page, "/");
  // New records are counted, and shown on request.
  await open(page, "?s=name&c=name,visits");
  const grid = page.getByRole("grid");
  await page.getByText("Beat", { exact: true }).waitFor();
  await grid.focus();
  await page.keyboard.press("End");
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("PageDown");
  const before = await grid.evaluate((it) => it.scrollTop);
  assert.ok(before > 0);
  for (const name of ["Aaa 1", "Aaa 2", "Aaa 3"]) await create(`new:${name}`, { name });
  const fresh = page.getByRole("button", { name: "3 new records" });
  await fresh.waitFor();
  assert.equal(await grid.evaluate((it) => it.scrollTop), before);
  assert.equal(await page.locator("[data-row]").getByText("Aaa 1", { exact: true }).count(), 0);

  // A record that is deleted in the meantime is no longer counted.
  const { id } = await ask("GET", "/entities/template/customers/by-key?key=new:Aaa%202");
  await ask("DELETE", `/entities/${id}`);
  await page.getByRole("button", { name: "2 new records" }).click();
  await page.locator("[data-row]").getByText("Aaa 1", { exact: true }).waitFor();
  await page.locator("[data-row]").getByText("Aaa 3", { exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "grid");
  await page.waitForFunction(() => !document.body.innerText.includes("new record"));

  // Rows that are added above do not move the visible ones: the list is refreshed after the user creates a record.
  await page.keyboard.press("Control+Home");
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("PageDown");
  const first = () =>
    grid.evaluate((it) => {
      const top = it.getBoundingClientRect().top + 34;
      const rows = [...it.querySelectorAll("[data-record]")];
      return rows.find((row) => row.getBoundingClientRect().bottom > top + 1)?.dataset.record;
    });
  const seen = await first();
  await create("new:Aaa 4", { name: "Aaa 4" });
  await page.getByRole("button", { name: "1 new record" }).waitFor();
  await page.getByRole("button", { name: "More", exact: true }).click();
  const refreshed = page.waitForResponse(/entities\/search\/customers/);
  await page.getByRole("menuitem", { name: "Refresh" }).click();
  await refreshed;
  await page.waitForFunction(() => !document.body.innerText.includes("new record"));
  assert.equal(await first(), seen, "the visible rows are the same");

  // Only records that match the list are counted.
  await open(page, "?f=name:eq:Zoe");
  await page.getByText("No matching records").waitFor();
  await create("new:other", { name: "Other" });
  await create("new:zoe", { name: "Zoe" });
  // In an empty list, a new record is shown immediately.
  await page.getByText("new:zoe", { exact: true }).waitFor();
  const { id: zoe } = await ask("GET", "/entities/template/customers/by-key?key=new:zoe");
  await ask("PATCH", `/entities/${zoe}`, { attributes: { name: "Zo" } });
  await page
    .locator(`[data-record="${zoe}"][title="No longer matches this list: changed by Beat"]`)
    .waitFor();
});
