import assert from "node:assert/strict";
import { browse, expectAccessible, signIn, input } from "../browser.mjs";

await browse(
  async (page) => {
    await page.goto(input.address);
    await page.getByLabel("API key").fill("keyed_1_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This key is unknown, revoked or expired.").waitFor();
    await expectAccessible(page);

    await signIn(page);
    await page.waitForURL(/\/p\/[^/]+\/t\//);
    const kept = await page.evaluate(() => [JSON.stringify(sessionStorage), JSON.stringify(localStorage), document.cookie]);
    assert.ok(kept[0].includes(input.key), "the key is stored until the tab closes");
    assert.ok(!kept[1].includes(input.key) && kept[2] === "", "and nowhere else");

    await page.getByRole("button", { name: "Settings and sign out" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    assert.equal(await page.evaluate(() => JSON.stringify(sessionStorage).includes("keyed_")), false);
  },
  { expected: /401/ },
);
