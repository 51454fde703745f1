import assert from "node:assert/strict";
import { browse, expectAccessible, signIn, told } from "../browser.mjs";

await browse(async (page) => {
  for (const path of ["/", `/p/${told.project}/t/customers`]) {
    await page.goto(told.address + path);
    await page.getByText(told.more.hint, { exact: true }).waitFor();
  }
  await expectAccessible(page);
  await signIn(page);
  assert.equal(await page.getByText(told.more.hint).count(), 0, "it is for those who are not signed in");
});
