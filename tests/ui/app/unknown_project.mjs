import assert from "node:assert/strict";
import { browse, expectAccessible, signIn, input } from "../browser.mjs";

await browse(
  async (page) => {
    await signIn(page);
    await page.getByRole("navigation").first().waitFor();
    await page.goto(`${input.address}/p/nowhere/t/customers`);
    await page.getByRole("heading", { name: "There is no such project, or you have no access" }).waitFor();
    assert.equal(await page.getByRole("navigation").count(), 0, "an unknown project has no rail");
    assert.equal(await page.getByText("not visible to this caller").count(), 0);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Go to the start page" }).click();
    await page.waitForURL(`**/p/${input.project}/**`);
    await page.getByRole("navigation").first().waitFor();
  },
  { expected: /404/ },
);
