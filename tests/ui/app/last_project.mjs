import assert from "node:assert/strict";
import { ask, browse, signIn, input } from "../browser.mjs";

await ask("POST", "/projects", { slug: "aaa", name: "Aaa" });
await ask("POST", "/projects", { slug: "zzz", name: "Zzz" });

await browse(async (page) => {
  // The application opens the last project, whichever of its pages was shown.
  await signIn(page, "/p/zzz/access");
  await page.getByRole("heading", { name: "Access" }).waitFor();
  await page.goto(`${input.address}/`);
  await page.waitForURL("**/p/zzz");

  // Nothing was changed, so there is nothing to undo.
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.waitFor();
  assert.equal(await help.getByText("Undo the last change").count(), 0);
});
