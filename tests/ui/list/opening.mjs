import assert from "node:assert/strict";
import { body, browse, list, signIn, input } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page, list("customers"));
  await page.getByText("erp:4").first().waitFor();

  const bodies = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/entities/search/customers")) bodies.push(body(request));
  });
  // The code that renders the page loads only after its records were requested.
  const asked = page.waitForRequest((request) => request.url().endsWith("/entities/search/customers"));
  await page.route(/\/assets\/application-.*\.js$/, async (route) => {
    await asked;
    await route.continue();
  });
  await page.goto(input.address + list("customers"));
  await page.getByText("erp:4").first().waitFor();
  assert.equal(bodies.filter(({ limit }) => limit !== 1).length, 1, JSON.stringify(bodies));
});
