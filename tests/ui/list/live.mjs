import assert from "node:assert/strict";
import { browse, colleague, importMany, list, signIn } from "../browser.mjs";

await importMany(400);
const { ask } = colleague();
const known = async (key) => (await ask("GET", `/entities/template/customers/by-key?key=${key}`)).id;
const ids = Object.fromEntries(
  await Promise.all([5, 100, 102, 103, 104].map(async (n) => [n, await known(`n:${n}`)])),
);
const change = (id, attributes) => ask("PATCH", `/entities/${id}`, { attributes });
const idsOf = ({ filters = [] }) => filters.find(({ field }) => field === "id")?.value ?? null;

await browse(async (page) => {
  // The record ids that each search requests; null for the list itself.
  const asked = [];
  await page.route("**/entities/search/customers", (route) => {
    asked.push(idsOf(route.request().postDataJSON()));
    return route.continue();
  });
  const feed = page.waitForResponse(/\/v1\/changes/);
  await signIn(page, `${list("customers")}?s=visits&c=name,visits`);
  await feed;
  const grid = page.getByRole("grid");
  const row = (name) => page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
  await grid.getByText("erp:0", { exact: true }).waitFor();
  await grid.focus();
  await page.keyboard.press("Control+Home");
  for (let presses = 0; (await row("Person 100").count()) === 0; presses += 1) {
    assert.ok(presses < 100, "the record is reached");
    await page.keyboard.press("PageDown");
  }
  // The user selects a record, moves on, and opens a menu.
  await row("Person 100").locator("[data-press=select]").click();
  await page.keyboard.press("ArrowDown");
  const position = () =>
    grid.evaluate((it) => [it.scrollTop, it.scrollHeight, it.getAttribute("aria-activedescendant")]);
  const before = await position();
  await page.getByRole("button", { name: "More", exact: true }).click();
  const menu = page.getByRole("menuitem", { name: "Refresh" });
  await menu.waitFor();
  asked.length = 0;

  // A change by another user appears in place, with its author.
  await change(ids[103], { name: "Rosa" });
  await page.locator("[data-row]").getByText("Rosa", { exact: true }).waitFor();
  assert.deepEqual(asked, [[ids[103]]], "only this record is requested");
  assert.match(await page.locator(`[data-record="${ids[103]}"]`).getAttribute("title"), /^Changed by Beat$/);
  await page.getByText("1 record changed by other users.").waitFor({ state: "attached" });

  // A deleted record also stays in place.
  await ask("DELETE", `/entities/${ids[104]}`);
  await page.locator(`[data-record="${ids[104]}"][title="Deleted by Beat"]`).waitFor();

  // Records outside the viewport are requested when they are scrolled into view.
  await change(ids[5], { name: "Far away" });
  await change(ids[102], { name: "Near" });
  await page.locator("[data-row]").getByText("Near", { exact: true }).waitFor();
  assert.ok(!asked.flat().includes(ids[5]));

  // A burst causes at most one request at its start and one at its end.
  const reads = asked.length;
  const operations = Array.from({ length: 30 }, (_, at) => ({
    op: "update",
    template: "customers",
    external_key: `n:${90 + at}`,
    attributes: { born: "2001-02-03" },
  }));
  for (const operation of operations.filter(({ external_key }) => external_key !== "n:104").slice(0, 10))
    await ask("POST", "/entities/batch", { operations: [operation] });
  await change(ids[102], { name: "Last of the burst" });
  await page.locator("[data-row]").getByText("Last of the burst", { exact: true }).waitFor();
  assert.ok(asked.length - reads <= 8, `${asked.length - reads} reads of eleven changes`);

  // None of this moved the list.
  assert.ok(await menu.isVisible(), "the menu is open");
  await page.keyboard.press("Escape");
  assert.deepEqual(await position(), before);
  await page.getByText("1 record selected").waitFor();
  assert.ok(await row("Person 100").getByRole("checkbox").isChecked());

  await grid.focus();
  await page.keyboard.press("Control+Home");
  await page.locator("[data-row]").getByText("Far away", { exact: true }).waitFor();

  // The user's own changes are not reported as those of another user.
  await page.locator("[data-row]").getByText("Far away", { exact: true }).click();
  await page.getByRole("button", { name: "Edit name" }).click();
  await page.getByRole("textbox", { name: "name" }).fill("Mine");
  await page.getByRole("textbox", { name: "name" }).press("Enter");
  await page.locator("[data-row]").getByText("Mine", { exact: true }).waitFor();
  const { id } = await ask("GET", "/entities/template/customers/by-key?key=n:6");
  await change(id, { name: "Theirs" });
  await page.locator("[data-row]").getByText("Theirs", { exact: true }).waitFor();
  assert.equal(await page.locator(`[data-record="${ids[5]}"]`).getAttribute("title"), null);
  assert.equal(await page.getByRole("button", { name: "Dismiss" }).count(), 0);
});
