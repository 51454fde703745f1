import assert from "node:assert/strict";
import { browse, list, signIn } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page, list("customers"));
  await page.getByText("Anna").first().waitFor();
  const field = page.getByRole("combobox", { name: "Search Our customers" });
  const grid = page.getByRole("grid", { name: "Records of Our customers" });
  const isSearched = () => page.getByText("Beat").first().waitFor({ state: "detached" });
  const isBack = () => page.waitForFunction(() => document.querySelector("[role=combobox]")?.value === "Chloé");

  // Esc moves to the records, and the search stays.
  await page.keyboard.press("/");
  await page.keyboard.type("Chloé");
  await isSearched();
  for (let presses = 0; presses < 3; presses += 1) {
    if (await grid.evaluate((element) => element.contains(document.activeElement))) break;
    await page.keyboard.press("Escape");
  }
  await page.waitForFunction(() => document.activeElement?.matches("[role=grid]"));
  assert.equal(await field.inputValue(), "Chloé");
  assert.match(page.url(), /q=Chlo/);

  // Ctrl+Z restores what x cleared, in the list and in the field.
  await page.keyboard.press("x");
  await page.getByText("Search cleared").waitFor();
  await page.getByText("Beat").first().waitFor();
  await page.keyboard.press("Control+z");
  await isSearched();
  await isBack();
  await page.getByRole("button", { name: "Clear the search" }).click();
  await page.getByText("Beat").first().waitFor();
  await field.focus();
  await page.keyboard.press("Control+z");
  await isSearched();
  await isBack();
});
