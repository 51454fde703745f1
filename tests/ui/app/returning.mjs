import assert from "node:assert/strict";
import { browse, list, signIn, input } from "../browser.mjs";

const { other } = input.more;

await browse(
  async (page) => {
    const sent = new Set();
    // The change feed does not end.
    page.on("request", (request) => request.url().includes("/v1/changes") || sent.add(request));
    for (const ended of ["requestfinished", "requestfailed"]) page.on(ended, (request) => sent.delete(request));
    await signIn(page, list("customers"), other);
    await page.getByText("Anna").first().waitFor();

    // Background requests would be rejected too, so they wait until the user returns.
    const held = [];
    let passes = () => false;
    const isWho = (route) => new URL(route.request().url()).pathname === "/v1/me";
    await page.route("**/v1/**", (route) => (passes(route) ? route.continue() : void held.push(route)));
    while (sent.size > held.length) await page.waitForTimeout(20);
    await fetch(`${input.address}/v1/api-keys/${other.split("_")[1]}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${input.key}` },
    });
    assert.equal(await page.getByLabel("API key").count(), 0);

    passes = isWho;
    await Promise.all(held.filter(isWho).map((route) => route.continue()));
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await page.getByLabel("API key").waitFor();
    await page.waitForFunction(() => {
      const row = document.querySelector("[role=row] ~ [role=row]");
      return row === null || !row.checkVisibility({ opacityProperty: true });
    });
    passes = () => true;
    await page.getByLabel("API key").fill(input.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("gridcell", { name: "Anna" }).first().waitFor();
  },
  { expected: /401/ },
);
