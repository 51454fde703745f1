import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const visits = async () => {
  const { records } = await ask("POST", "/entities/search/customers", { sort: "external_key" });
  return records.map(({ attributes }) => attributes.visits);
};

async function until(page, expected) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (JSON.stringify(await visits()) === JSON.stringify(expected)) return;
    await page.waitForTimeout(100);
  }
  assert.deepEqual(await visits(), expected);
}

await browse(async (page) => {
  await signIn(page, list("customers"));
  const box = (key) => page.getByRole("row").filter({ hasText: key }).getByRole("checkbox");
  await page.getByText("erp:4").waitFor();
  await box("erp:1").press("Space");
  await box("erp:2").press("Space");

  await page.getByRole("button", { name: "Set a value" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /Attribute/ }).click();
  await page.getByRole("option", { name: "visits" }).click();
  await dialog.getByLabel("New value").fill("77");
  await dialog.getByRole("button", { name: /^Change 2 records/ }).click();
  await until(page, [0, 77, 77, 3, 4]);
  await page.getByRole("button", { name: "Undo" }).first().click();
  await until(page, [0, 1, 2, 3, 4]);

  await page.getByRole("button", { name: "Delete", exact: true }).first().click();
  await page.getByRole("button", { name: /^Delete 2 records/ }).click();
  await until(page, [0, 3, 4]);
  await page.getByRole("button", { name: /^(Undo|Restore)$/ }).first().click();
  await until(page, [0, 1, 2, 3, 4]);
});
