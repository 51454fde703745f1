import assert from "node:assert/strict";
import { browse, expectAccessible, list, signIn, input } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page, list("customers"));
  const grid = page.getByRole("grid");
  const keys = () => grid.locator("[data-row] code").allInnerTexts();
  const begins = (key) => grid.locator("[data-row='0'] code", { hasText: key }).waitFor();
  await begins("erp:4");

  // A shortcut asks for the start value, and invalid input shows an error.
  await page.keyboard.press("g");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /Attribute/ }).click();
  await page.getByRole("option", { name: "visits" }).click();
  const value = dialog.getByRole("textbox", { name: "Value" });
  await value.fill("many");
  await dialog.getByRole("button", { name: "Start here" }).click();
  await dialog.getByText("number", { exact: false }).first().waitFor();
  await value.fill("2");
  await expectAccessible(page);
  await value.press("Enter");
  await begins("erp:2");
  assert.deepEqual(await keys(), ["erp:2", "erp:3", "erp:4"]);
  assert.equal(new URL(page.url()).search, "?s=visits&start=2");
  await page.getByText("Starting at 2 (visits)").waitFor();
  // The count covers only the records from the start value on.
  await page.getByText(/^3 records starting at 2$/).waitFor();
  await page.getByText(/^1–3 of 3 starting at 2$/).waitFor();

  // The address shows the same list to other users. In reverse order, the list starts at the same value.
  await page.goto(`${input.address}${list("customers")}?s=-visits&start=2`);
  await begins("erp:2");
  assert.deepEqual(await keys(), ["erp:2", "erp:1", "erp:0"]);
  await page.getByText(/^3 records starting at 2, descending$/).waitFor();
  await page.getByRole("button", { name: "Show from the beginning" }).click();
  await begins("erp:4");
  assert.equal(new URL(page.url()).search, "?s=-visits");
  await page.goBack();
  await begins("erp:2");

  // Another sort starts at its beginning, and an invalid start value in the address is ignored.
  await page.getByRole("columnheader", { name: /name/ }).first().click();
  await page.waitForURL((url) => url.search === "?s=name");
  await page.goto(`${input.address}${list("customers")}?s=visits&start=many`);
  await begins("erp:0");
  assert.equal((await keys()).length, 5);

  // The palette goes to the end: the same list in reverse order.
  await page.keyboard.press("Control+k");
  await dialog.getByRole("combobox").fill("go to the end");
  await page.getByRole("option", { name: /Go to the end/ }).click();
  await page.waitForURL((url) => url.search === "?s=-visits");
  await begins("erp:4");

  // Text has no start value, so its prefix is a filter.
  await page.getByRole("button", { name: "Sort", exact: true }).click();
  await page.getByRole("menuitem", { name: "Start at…" }).click();
  await dialog.getByRole("button", { name: /Attribute/ }).click();
  await page.getByRole("option", { name: "name" }).click();
  await dialog.getByRole("textbox", { name: "Value" }).fill("B");
  await dialog.getByRole("button", { name: "Add the filter" }).click();
  await begins("erp:1");
  await page.waitForURL((url) => url.searchParams.get("f") === "name:starts-with:B");
});
