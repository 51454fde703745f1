import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const anna = () => ask("GET", "/entities/template/customers/by-key?key=erp:0");

/** Waits until a field of the record has a value. */
async function until(page, field, expected) {
  for (let tries = 0; ; tries += 1) {
    const { [field]: found } = (await anna()).attributes;
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    if (tries === 600) assert.deepEqual(found, expected);
    await page.waitForTimeout(100);
  }
}

/** Opens the list editor, and types an element without adding it. */
async function typeTag(page, text) {
  await page.getByRole("button", { name: "Edit tags" }).click();
  const field = page.getByRole("combobox", { name: /tags/ });
  await field.waitFor();
  await page.keyboard.type(text);
  assert.equal(await field.inputValue(), text);
}

/** Opens the date editor, and types February 31, which is corrected when the date loses the focus. */
async function typeDay(page) {
  await page.getByRole("button", { name: "Edit born" }).click();
  const month = page.getByRole("spinbutton", { name: /month/ });
  await month.waitFor();
  await month.click();
  await page.keyboard.type("02311990");
}

await browse(async (page) => {
  await signIn(page, list("customers"));
  await page.getByRole("gridcell", { name: "Anna", exact: true }).click();
  await page.waitForURL(/\/r\//);
  const background = page.getByRole("heading", { name: "Anna" }).first();

  await typeTag(page, "left");
  await background.click();
  await until(page, "tags", ["first", "vip", "left"]);
  await page.getByRole("button", { name: "Edit tags" }).waitFor();

  await typeTag(page, "tabbed");
  await page.keyboard.press("Tab");
  await until(page, "tags", ["first", "vip", "left", "tabbed"]);
  await page.getByRole("button", { name: "Edit tags" }).waitFor();
  // Tab moves to the next field, whose edit is canceled.
  await page.locator("[role=spinbutton]:focus").waitFor();
  await page.keyboard.press("Escape");

  await typeDay(page);
  await background.click();
  await until(page, "born", "1990-02-28");
  await page.getByRole("button", { name: "Edit born" }).waitFor();

  // Text that is typed during the request is saved as well.
  let release = () => {};
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/\/entities\/[^/]+$/, async (route) => {
    if (route.request().method() === "PATCH") await held;
    await route.continue();
  });
  await page.getByRole("button", { name: "Edit name" }).click();
  await page.getByRole("textbox", { name: "name" }).fill("Ann");
  const sent = page.waitForRequest((request) => request.method() === "PATCH");
  await page.keyboard.press("Enter");
  await sent;
  await page.keyboard.type("ette");
  release();
  await until(page, "name", "Ann");
  await page.getByRole("heading", { name: "Ann", exact: true }).first().waitFor();
  await page.getByRole("heading", { name: "Ann", exact: true }).first().click();
  await until(page, "name", "Annette");
  await page.unroute(/\/entities\/[^/]+$/);

  // The page closes without a blur event.
  await typeTag(page, "gone");
  await page.goBack();
  await until(page, "tags", ["first", "vip", "left", "tabbed", "gone"]);
});
