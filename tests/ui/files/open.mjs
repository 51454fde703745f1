import { list, input } from "../browser.mjs";

/** Chooses a file on the page. */
export const choose = (page, name, text) =>
  page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

/** Reloads the page, so that no announcement of the earlier form remains. */
export async function openImport(page) {
  await page.goto(input.address);
  await page.getByLabel("API key").fill(input.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("API key").waitFor({ state: "detached" });
  await page.goto(`${input.address}${list("customers")}/import`);
}
