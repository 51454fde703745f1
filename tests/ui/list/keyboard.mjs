import { ask, browse, list, input } from "../browser.mjs";
import assert from "node:assert/strict";

/** Presses Tab until the expected element has the focus. */
async function tabTo(page, wanted) {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await wanted.evaluate((element) => element.contains(document.activeElement)).catch(() => false)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no way by Tab to ${wanted}`);
}

await browse(async (page) => {
  await page.goto(input.address + list("customers"));
  await page.getByLabel("API key").waitFor();
  await page.keyboard.type(input.key);
  await page.keyboard.press("Enter");
  await page.getByText("Anna").first().waitFor();

  await page.keyboard.press("f");
  await page.getByPlaceholder("Search attributes").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("active");
  // The keydown chooses. The list may have changed before the keyup.
  await page.keyboard.down("Enter");
  await page.getByRole("radio", { name: "Yes" }).and(page.locator(":focus")).waitFor({ state: "attached" });
  await page.keyboard.up("Enter");
  await page.keyboard.press("Enter");
  await page.getByText("Beat").first().waitFor({ state: "detached" });

  await page.keyboard.press("/");
  await page.keyboard.type("Chloé");
  await page.getByText("Anna").first().waitFor({ state: "detached" });
  const grid = page.getByRole("grid", { name: "Records of Our customers" });
  await tabTo(page, grid);
  for (let presses = 0; presses < 3; presses += 1) {
    if (await page.locator("[role=row]:focus, [role=row] :focus").filter({ hasText: "Chloé" }).count()) break;
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/r\//);

  await tabTo(page, page.getByRole("button", { name: "Edit name" }));
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Chloé Favre");
  await page.keyboard.press("Enter");
  await page.getByText("Chloé Favre").first().waitFor();
  for (;;) {
    const { attributes } = await ask("GET", "/entities/template/customers/by-key?key=erp:2");
    if (attributes.name === "Chloé Favre") break;
    await page.waitForTimeout(100);
  }
  // In the field, Ctrl+Z would undo a letter.
  await page.waitForFunction(() => !document.activeElement?.matches("input, textarea"));
  await page.keyboard.press("Control+z");
  await page.getByText("Undid the change of name").waitFor();
  assert.equal((await ask("GET", "/entities/template/customers/by-key?key=erp:2")).attributes.name, "Chloé");
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.pathname.includes("/r/"));

  // The palette also opens from a field.
  await page.keyboard.press("/");
  await page.waitForFunction(() => document.activeElement?.matches("input"));
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("companies");
  await page.keyboard.down("Enter");
  await page.waitForURL(/\/t\/companies/);
});
