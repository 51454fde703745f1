import assert from "node:assert/strict";
import { ask, browse, expectAccessible } from "../browser.mjs";
import { choose, openImport } from "./open.mjs";

const FILE = "external_key,name,company\nm:1,Mia,Ada & Co\nm:2,Noa,Nobody\n";

await browse(async (page) => {
  await openImport(page);
  await choose(page, "named.csv", FILE);
  await page.getByRole("button", { name: "Match columns" }).click();
  await page.getByRole("button", { name: /Match by/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: /Match by/ }).click();
  await page.getByRole("option", { name: "name" }).click();
  await page.getByRole("button", { name: "Check the file" }).click();
  await page.getByText(/No record of crm.companies with name = "Nobody"/).first().waitFor();
  await page.getByRole("button", { name: /^Import 1 row/ }).click();
  await page.getByText(/1 record created/).waitFor();
});
const mia = await ask("GET", "/entities/template/customers/by-key?key=m:1");
const company = await ask("GET", "/entities/template/companies/by-key?key=co:1");
assert.equal(mia.attributes.company, company.id);
