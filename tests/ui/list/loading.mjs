import assert from "node:assert/strict";
import { browse, list, signIn, input } from "../browser.mjs";

await browse(async (page) => {
  // The service responds to a search when the test allows it.
  const held = [];
  let isHeld = true;
  await page.route("**/entities/search/customers", (route) => {
    if (!isHeld) return route.continue();
    held.push(route);
  });
  const release = async () => {
    isHeld = false;
    for (const route of held.splice(0)) await route.continue().catch(() => {});
  };

  // Placeholder rows stand for the first records.
  await signIn(page, list("customers"));
  const grid = page.getByRole("grid");
  await grid.locator("[data-pending]").first().waitFor();
  assert.equal(await grid.getAttribute("aria-busy"), "true");
  await release();
  await page.getByText("erp:4").waitFor();

  // The earlier records stay and are dimmed, and the search field shows that a search is running.
  isHeld = true;
  const field = page.getByRole("main").getByRole("combobox");
  await field.fill("Anna");
  const says = page.getByRole("main").locator("[role=status]").getByText("Searching");
  await says.waitFor();
  const [inner, outer] = [await says.boundingBox(), await field.locator("..").boundingBox()];
  assert.ok(inner.x > outer.x && inner.x + inner.width < outer.x + outer.width, "within the field");
  assert.ok(inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height, "within the field");
  await page.getByText("erp:4").waitFor();
  assert.equal(await grid.getAttribute("aria-busy"), "true");

  // After some time, the search can be stopped.
  await page.getByText("This search is taking a while.", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("Search stopped.", { exact: false }).waitFor();
  await release();
  await page.getByRole("button", { name: "Search again" }).click();
  await page.getByText("erp:4").waitFor({ state: "detached" });
  await page.getByText("erp:0").waitFor();

  // Cards also have placeholders.
  isHeld = true;
  await page.goto(`${input.address}${list("customers")}?l=cards`);
  await page.locator("[aria-busy=true]").getByText("Loading").waitFor({ state: "attached" });
  await release();
  await page.getByText("erp:4").waitFor();
});
