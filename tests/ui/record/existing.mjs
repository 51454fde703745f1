import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const record = (key) => ask("GET", `/entities/template/customers/by-key?key=${key}`);
const { id } = await record("erp:0");
await ask("PATCH", `/entities/${id}`, { attributes: { tags: ["first"] } });
const { id: other } = await record("erp:1");
await ask("PATCH", `/entities/${other}`, { attributes: { tags: ["vip", "wholesale"] } });

/** Waits until the record has these elements. */
async function until(page, expected) {
  for (let tries = 0; ; tries += 1) {
    const { tags } = (await record("erp:0")).attributes;
    if (JSON.stringify(tags) === JSON.stringify(expected)) return;
    if (tries === 600) assert.deepEqual(tags, expected);
    await page.waitForTimeout(100);
  }
}

await browse(async (page) => {
  await signIn(page, `${list("customers")}/r/${id}`);
  await page.getByRole("button", { name: "Edit tags" }).click();
  const field = page.getByRole("combobox", { name: "Add to tags" });
  const choices = page.getByRole("listbox", { name: "Existing values" });
  await choices.getByRole("option", { name: "wholesale" }).waitFor();
  assert.equal(await choices.getByRole("option", { name: "first" }).count(), 0, "current elements are not suggested");

  // With the keyboard: Enter accepts the suggestion, and then saves.
  await field.press("w");
  await choices.getByRole("option", { name: "vip" }).waitFor({ state: "detached" });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("row", { name: "wholesale", exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await until(page, ["first", "wholesale"]);

  // With the mouse. Other values can still be typed.
  await page.getByRole("button", { name: "Edit tags" }).click();
  await choices.getByRole("option", { name: "vip" }).click();
  await field.fill("new here");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await until(page, ["first", "wholesale", "vip", "new here"]);
});
