import assert from "node:assert/strict";
import { browse, list, signIn } from "../browser.mjs";

const HOSTILE = "<img src=x onerror=document.title='broken'>";

await browse(async (page) => {
  await signIn(page, list("customers"));
  const cell = page.getByText(HOSTILE).first();
  await cell.waitFor();
  await cell.dblclick();
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText(HOSTILE).nth(1).waitFor();
  assert.equal(await page.locator("img[src='x']").count(), 0);
  assert.notEqual(await page.title(), "broken", "no script in a value runs");
});
