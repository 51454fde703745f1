import assert from "node:assert/strict";
import { browse, colleague, list, signIn } from "../browser.mjs";

const { ask, key } = colleague();
const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
const { id: other } = await ask("GET", "/entities/template/customers/by-key?key=erp:1");

await browse(async (page) => {
  const feed = page.waitForResponse(/\/v1\/changes/);
  await signIn(page, `${list("customers")}/r/${id}`);
  await feed;
  const record = page.getByRole("complementary", { name: "Record" });
  await record.getByRole("button", { name: "Edit name" }).click();
  const field = record.getByRole("textbox", { name: "name" });
  await field.fill("Anna Müll");
  await field.press("End");

  // Another user edits the same record in another browser.
  const theirs = await (await page.context().browser().newContext()).newPage();
  await signIn(theirs, `${list("customers")}/r/${id}`, key);
  await theirs.getByRole("button", { name: "Edit visits" }).click();
  await theirs.getByRole("textbox", { name: "visits" }).fill("77");
  await theirs.getByRole("textbox", { name: "visits" }).press("Enter");

  // Fields that are not being edited take the new values, and the record shows the author. The edited field stays.
  await record.locator("[data-field=visits]").getByText("77").waitFor();
  await record.getByText(/Beat set visits to 77/).waitFor();
  assert.equal(await field.inputValue(), "Anna Müll");
  assert.ok(
    await field.evaluate((it) => it === document.activeElement && it.selectionStart === it.value.length),
  );

  // The edited field shows the new value, and the user chooses.
  await theirs.getByRole("button", { name: "Edit name" }).click();
  await theirs.getByRole("textbox", { name: "name" }).fill("Anna Meier");
  await theirs.getByRole("textbox", { name: "name" }).press("Enter");
  await record.getByText("While you were editing:").waitFor();
  await record.getByText(/Beat set name to Anna Meier/).waitFor();
  assert.equal(await field.inputValue(), "Anna Müll");
  await field.pressSequentially("er");
  await record.getByRole("button", { name: "Save yours" }).click();
  await record.getByRole("heading", { name: "Anna Müller" }).waitFor();
  // The other user sees the change too.
  await theirs.getByRole("heading", { name: "Anna Müller" }).waitFor();
  await theirs.getByText(/set name to Anna Müller/).waitFor();

  // The open record shows who deleted it.
  await ask("DELETE", `/entities/${id}`);
  await record.getByText(/Beat deleted this record/).waitFor();
  await record.getByRole("button", { name: "Restore" }).waitFor();
  await page.locator(`[data-record="${id}"][title="Deleted by Beat"]`).waitFor();

  // The next record that is opened also follows the feed.
  await page.locator(`[data-record="${other}"] [data-cell="2"]`).click();
  await record.getByRole("heading", { name: "Beat" }).waitFor();
  await ask("PATCH", `/entities/${other}`, { attributes: { name: "Beatrice" } });
  await record.getByRole("heading", { name: "Beatrice" }).waitFor();
});
