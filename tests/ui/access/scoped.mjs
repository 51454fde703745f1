import assert from "node:assert/strict";
import { ask, browse, list, signIn, input } from "../browser.mjs";

await browse(
  async (page) => {
    await signIn(page, list("customers"), input.more.key);
    await page.getByText("Anna").first().waitFor();
    assert.equal(await page.getByText("Beat").count(), 0);
    assert.equal(await page.getByRole("link", { name: "Access" }).count(), 0);
    assert.equal(await page.getByRole("link", { name: /companies/i }).count(), 0);
    assert.equal(await page.getByRole("button", { name: "New record" }).count(), 0);

    const beat = await ask("GET", "/entities/template/customers/by-key?key=erp:1");
    await page.goto(`${input.address}${list("customers")}/r/${beat.id}`);
    await page.getByText("This record does not exist, or you have no access").waitFor();
    await page.goto(`${input.address}/p/${input.project}/access`);
    await page.getByText(/administrator/i).first().waitFor();
  },
  { expected: /40[34]/ },
);
