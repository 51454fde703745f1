import assert from "node:assert/strict";
import { browse, expectAccessible, signIn, input } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page);
  await page.goto(`${input.address}/p/${input.project}/access/projects`);
  await page.getByRole("button", { name: "New project" }).click();
  const dialog = page.getByRole("dialog");
  const create = dialog.getByRole("button", { name: "Create project" });
  await dialog.getByText("Enter a name or a slug.").waitFor();
  assert.ok(await create.isDisabled());

  // The slug follows the name until the user edits it, and shows its error.
  const slug = dialog.getByLabel("Slug");
  await dialog.getByLabel("Name").fill("Zürich Museum");
  assert.equal(await slug.inputValue(), "zurich_museum");
  await slug.fill("2 museums");
  await dialog.getByText("Begin the slug with a letter from a to z.").waitFor();
  assert.ok(await create.isDisabled());
  await slug.fill("museum");
  await dialog.getByLabel("Name").fill("Museum of Zürich");
  assert.equal(await slug.inputValue(), "museum");

  const zone = dialog.getByRole("combobox", { name: "Time zone" });
  await zone.fill("zurich");
  await page.getByRole("option", { name: "Europe/Zurich" }).click();
  assert.equal(await zone.inputValue(), "Europe/Zurich");
  await expectAccessible(page);
  await create.click();
  await page.getByText("Project Museum of Zürich created").waitFor();
  await page.waitForURL("**/p/museum");
});
