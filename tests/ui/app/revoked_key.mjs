import assert from "node:assert/strict";
import { browse, list, signIn, told } from "../browser.mjs";

const { other } = told.more;

await browse(
  async (page) => {
    await signIn(page, list("customers"), other);
    await page.getByText("Anna").first().waitFor();
    await page.getByRole("button", { name: "New customer" }).or(page.getByRole("button", { name: /^New/ })).first().click();
    await page.getByRole("dialog").getByLabel("External key").fill("erp:typed");
    await fetch(`${told.address}/v1/api-keys/${other.split("_")[1]}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${told.key}` },
    });
    await page.getByRole("button", { name: /^Create/ }).click();
    const again = page.getByRole("alertdialog");
    await again.getByLabel("API key").fill(told.key);
    await again.getByRole("button", { name: "Sign in" }).click();
    await again.waitFor({ state: "detached" });
    assert.equal(await page.getByRole("dialog").getByLabel("External key").inputValue(), "erp:typed");
  },
  { expected: /401/ },
);
