import assert from "node:assert/strict";
import { ask, browse, expectAccessible, list, signIn, input } from "../browser.mjs";

const put = (external_key, name) =>
  ask("PUT", "/entities/template/customers/by-key", { external_key, attributes: { name } });
const liveKeys = async () => {
  const { records } = await ask("POST", "/entities/search/customers", { sort: "external_key" });
  return records.map(({ external_key }) => external_key);
};
const LINE = "Nothing matches “vermer”. Showing results for Vermeer and similar words.";

await put("erp:5", "Vermeer, Delft");
await put("erp:6", "Vermeer, Haag");

for (const [theme, width] of [
  ["light", 1280],
  ["dark", 390],
]) {
  await browse(
    async (page) => {
      const row = (key) => page.getByRole("row").filter({ hasText: key });
      const line = page.getByRole("status").filter({ hasText: LINE });
      await signIn(page, list("customers"));
      await page.setViewportSize({ width, height: 800 });
      // Ignores announcements of the sign-in page.
      await page.goto(input.address + list("customers"));
      await row("erp:4").waitFor();
      // On a narrow screen, the export formats are in the menu.
      const exports = page.getByRole("button", { name: width < 700 ? "More" : "Export", exact: true });
      const near = [];
      await page.route("**/entities/search/customers", (route) => {
        const body = route.request().postDataJSON();
        if (body.fuzzy === "auto") near.push(body.global_search);
        return route.continue();
      });

      await page.getByRole("combobox").focus();
      await page.keyboard.type("vermer");
      await line.waitFor();
      await row("erp:5").waitFor();
      await row("erp:6").waitFor();
      assert.equal(await row("erp:4").count(), 0);
      assert.deepEqual([...new Set(near)], ["vermer"], "intermediate input is not corrected");
      assert.match(page.url(), /[?&]q=vermer(&|$)/, "the search stays as it was typed");
      await expectAccessible(page);

      const file = page.getByRole("menuitem", { name: /^Export this list as CSV/ });
      await exports.click();
      assert.equal(await file.getAttribute("aria-disabled"), "true", "an export would not contain the shown records");
      await file.getByText("Exports contain exact matches only.").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("menu").waitFor({ state: "detached" });

      await page.getByRole("button", { name: "Search for exactly “Vermeer”" }).click();
      await line.waitFor({ state: "detached" });
      await page.waitForURL(/[?&]q=Vermeer(&|$)/);
      await row("erp:6").waitFor();
      assert.ok(await page.getByRole("combobox").evaluate((field) => field === document.activeElement));
      await exports.click();
      assert.equal(await file.getAttribute("aria-disabled"), null);
      await page.keyboard.press("Escape");

      await page.getByRole("combobox").fill("nobody has this");
      await page.getByText("No record matches the search and the filters.").waitFor();
    },
    { theme },
  );
}

await browse(async (page) => {
  await signIn(page, `${list("customers")}?q=vermer`);
  await page.getByText(LINE).waitFor();
  await page.getByRole("checkbox", { name: "Select all loaded records" }).press("Space");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: /^Delete 2 records/ }).click();
  await page.getByText("Deleted 2 records").first().waitFor();
  assert.deepEqual(await liveKeys(), ["erp:0", "erp:1", "erp:2", "erp:3", "erp:4"]);
});
