import assert from "node:assert/strict";
import { browse, expectAccessible, input, quiet, signIn } from "../browser.mjs";

const { idle } = input.more;

await browse(async (page) => {
  await signIn(page);
  await page.goto(`${input.address}/p/${input.project}/access/grants`);
  // Roles without access to the project have no section, and can be granted access.
  await page.getByRole("heading", { name: /^sales_/ }).waitFor();
  assert.equal(await page.getByRole("heading", { name: idle }).count(), 0);
  assert.equal(await page.getByText("No grants in this project.").count(), 0);
  await quiet(page);
  await expectAccessible(page);
  const give = page.getByRole("button", { name: "New grant", exact: true });
  assert.ok(await give.isDisabled());
  await page.getByRole("button", { name: /Roles without access here/ }).click();
  await page.getByRole("option", { name: idle, exact: true }).click();
  await give.click();
  await page.getByRole("alertdialog", { name: `New grant for ${idle}` }).waitFor();
});
