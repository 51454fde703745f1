import assert from "node:assert/strict";
import { ask, browse, list, signIn, input } from "../browser.mjs";

const { other, sales } = input.more;

await browse(
  async (page) => {
    await signIn(page, list("customers"), other);
    await page.getByText("Beat").first().waitFor();
    await page.getByRole("button", { name: "New record" }).click();
    await page.getByLabel(/^External key/).fill("erp:typed");
    await fetch(`${input.address}/v1/api-keys/${other.split("_")[1]}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${input.key}` },
    });
    // The page polls too, and may detect the revocation before the click. Then there is nothing to click.
    void page.getByRole("button", { name: /^Create/ }).click().catch(() => undefined);
    await page.getByLabel("API key").fill(sales);
    await page.getByRole("button", { name: "Sign in" }).click();
    // Data of the other role is removed.
    await page.getByText("Beat").waitFor({ state: "detached" });
    await page.getByText("Anna").first().waitFor();
    assert.equal(await page.getByText("Beat").count(), 0, "and does not come back");
    const { total } = await ask("POST", "/entities/search/customers", {
      filters: [{ field: "external_key", operator: "eq", value: "erp:typed" }],
      count: "exact",
    });
    assert.equal(total, 0, "requests of the other role are not repeated");
  },
  { expected: /40[13]/ },
);
