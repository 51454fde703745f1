import assert from "node:assert/strict";
import { browse, expectAccessible, signIn, input } from "../browser.mjs";

await browse(async (page) => {
  for (const path of ["/", `/p/${input.project}/t/customers`]) {
    await page.goto(input.address + path);
    await page.getByText(input.more.hint, { exact: true }).waitFor();
  }
  await expectAccessible(page);
  await signIn(page);
  assert.equal(await page.getByText(input.more.hint).count(), 0, "the hint is only for users who are not signed in");
});
