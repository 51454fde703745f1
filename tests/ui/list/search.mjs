import assert from "node:assert/strict";
import { browse, list, signIn } from "../browser.mjs";

const names = (page) => page.getByRole("row").filter({ has: page.getByText(/^erp:\d$/) }).allInnerTexts();
const keys = async (page) => (await names(page)).map((text) => text.match(/erp:\d/)[0]);

async function until(page, expected) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (JSON.stringify(await keys(page)) === JSON.stringify(expected)) return;
    await page.waitForTimeout(100);
  }
  assert.deepEqual(await keys(page), expected);
}

await browse(async (page) => {
  await signIn(page, list("customers"));
  await until(page, ["erp:4", "erp:3", "erp:2", "erp:1", "erp:0"]);
  const headers = await page.getByRole("columnheader").allInnerTexts();
  assert.match(headers.find((text) => text.trim() !== ""), /External key/, "the key is the first column");

  await page.getByRole("combobox").fill("Beat");
  await until(page, ["erp:1"]);
  assert.match(page.url(), /[?&]q=Beat/);
  await page.getByRole("combobox").fill("");
  await until(page, ["erp:4", "erp:3", "erp:2", "erp:1", "erp:0"]);

  await page.getByRole("columnheader", { name: /^visits/ }).click();
  await until(page, ["erp:0", "erp:1", "erp:2", "erp:3", "erp:4"]);
  await page.getByRole("columnheader", { name: /^visits/ }).click();
  await until(page, ["erp:4", "erp:3", "erp:2", "erp:1", "erp:0"]);

  await page.keyboard.press("Escape");
  await page.locator("body").press("f");
  await page.getByPlaceholder("Search attributes").fill("External key");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: /Operator/ }).click();
  await page.getByRole("option", { name: "Contains", exact: true }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("erp:3");
  await page.keyboard.press("Enter");
  await page.getByText(/External key .*erp:3/).first().waitFor();
  await until(page, ["erp:3"]);

  const shared = page.url();
  await page.goto("about:blank");
  await page.goto(shared);
  await until(page, ["erp:3"]);
});
