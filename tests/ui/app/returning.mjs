import assert from "node:assert/strict";
import { browse, list, signIn, told } from "../browser.mjs";

const { other } = told.more;

await browse(
  async (page) => {
    await signIn(page, list("customers"), other);
    await page.getByText("Anna").first().waitFor();
    // What the page still asks for would be refused, too.
    await page.waitForLoadState("networkidle");
    await fetch(`${told.address}/v1/api-keys/${other.split("_")[1]}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${told.key}` },
    });
    assert.equal(await page.getByLabel("API key").count(), 0);
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await page.getByLabel("API key").waitFor();
    await page.waitForFunction(() => {
      const row = document.querySelector("[role=row] ~ [role=row]");
      return row === null || !row.checkVisibility({ opacityProperty: true });
    });
    await page.getByLabel("API key").fill(told.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("gridcell", { name: "Anna" }).first().waitFor();
  },
  { expected: /401/ },
);
