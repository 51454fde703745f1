import assert from "node:assert/strict";
import { browse, expectAccessible, input, list, quiet, signIn } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page, `${list("customers")}?s=visits`);
  // The announcement of the sign-in button remains for some seconds.
  await page.reload();
  await page.getByText("Anna").first().waitFor();
  const named = (name) => page.getByRole("complementary", { name: "Record" }).getByRole("heading", { name }).waitFor();
  const button = (name) => page.getByRole("button", { name });

  await page.getByText("Anna").first().dblclick();
  await named("Anna");
  assert.ok(await button("Previous record (k)").isDisabled(), "Anna is the first");
  await page.keyboard.press("j");
  await named("Beat");
  await page.getByRole("tab", { name: "History" }).click();
  await page.waitForURL(/tab=history/);

  // The tab stays the same, and the button keeps the focus.
  await button("Next record (j)").click();
  await named("Chloé");
  await page.waitForURL(/s=visits.*tab=history/);
  await page.waitForFunction(() => document.activeElement?.matches("[data-step=next]"));
  await page.keyboard.press("Enter");
  await named(/img/);
  await quiet(page);
  await expectAccessible(page);
  await page.keyboard.press("k");
  await named("Chloé");

  // Letters typed into a field are not shortcuts.
  await page.getByRole("tab", { name: "Details" }).click();
  await button(/^Edit name/).click();
  await page.keyboard.press("End");
  await page.keyboard.type("jk");
  assert.equal(await page.getByRole("textbox", { name: "name" }).inputValue(), "Chloéjk");
  await page.keyboard.press("Escape");
  await named("Chloé");

  // Esc and the back button lead to the list, not to the earlier records.
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.pathname.includes("/r/"));
  await page.waitForFunction(() => document.activeElement?.matches("[role=grid]"));
});
