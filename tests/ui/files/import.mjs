import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const FILE = "external_key;name;visits\nerp:0;Anna;5\nerp:9;Zoé;7\nerp:8;Max;many\n";

const count = async () => (await ask("POST", "/entities/search/customers", { count: "exact", limit: 1 })).total;

await browse(async (page) => {
  await signIn(page, `${list("customers")}/import`);
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: "customers.csv", mimeType: "text/csv", buffer: Buffer.from(FILE) });
  await page.getByText("Semicolon").first().waitFor();
  await page.getByRole("button", { name: "Match columns" }).click();
  await page.getByText(/1 of 3 not valid/).first().waitFor();
  await page.getByRole("button", { name: "Check the file" }).click();
  await page.getByRole("button", { name: /^Import 2 rows/ }).waitFor();
  await page.getByText("many").first().waitFor();
  assert.equal(await count(), 5, "the dry run writes nothing");

  await page.getByRole("button", { name: /^Import 2 rows/ }).click();
  await page.getByText(/1 record created, 1 changed/).waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save rejected rows" }).click();
  const stream = await (await download).createReadStream();
  const refused = Buffer.concat(await stream.toArray()).toString();
  assert.match(refused, /erp:8/);
  assert.doesNotMatch(refused, /erp:9/);
  assert.equal(await count(), 6);
});
