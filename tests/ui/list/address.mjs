import assert from "node:assert/strict";
import { browse, list, signIn, input } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page, list("customers"));
  await page.getByText("Anna").first().waitFor();
  await page.getByRole("columnheader", { name: /name/ }).first().click();
  await page.getByRole("button", { name: "Cards" }).click();
  await page.waitForURL(/s=name.*l=cards/);

  // The navigation opens the list in its last state, which is in the address.
  const rail = page.getByRole("navigation").first();
  await rail.getByRole("link", { name: /companies/ }).click();
  await page.getByText("Ada & Co").first().waitFor();
  await rail.getByRole("link", { name: /Our customers/ }).click();
  await page.waitForURL(/s=name.*l=cards/);

  // An address determines the whole state, whatever the last state of the list was.
  await page.goto(input.address + list("customers"));
  await page.getByText("Newest first").first().waitFor();
  await page.getByRole("grid", { name: "Records of Our customers" }).waitFor();
  assert.equal(new URL(page.url()).search, "");
});
