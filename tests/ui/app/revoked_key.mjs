import assert from "node:assert/strict";
import { ask, browse, list, signIn, input } from "../browser.mjs";

const { other } = input.more;

await browse(
  async (page) => {
    await signIn(page, list("customers"), other);
    await page.getByText("Anna").first().waitFor();
    await page.getByRole("button", { name: "New customer" }).or(page.getByRole("button", { name: /^New/ })).first().click();
    await page.getByRole("dialog").getByLabel("External key").fill("erp:typed");
    await fetch(`${input.address}/v1/api-keys/${other.split("_")[1]}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${input.key}` },
    });
    // The page polls too, and may detect the revocation before the click. Then the click waits for the other key.
    const clicked = page.getByRole("button", { name: /^Create/ }).click();
    // The innermost dialog asks for a key.
    const field = page.getByLabel("API key");
    await field.fill(input.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await clicked;
    await page.waitForURL(/\/r\//);
    await page.getByText("erp:typed").first().waitFor();
    await page.locator("[role=dialog], [role=alertdialog]").waitFor({ state: "detached" });
    const { external_key } = await ask("GET", "/entities/template/customers/by-key?key=erp:typed");
    assert.equal(external_key, "erp:typed", "the typed value was sent with the other key");
  },
  { expected: /401/ },
);
