import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const liveKeys = async () => {
  const { records } = await ask("POST", "/entities/search/customers", { sort: "external_key" });
  return records.map(({ external_key }) => external_key);
};

async function until(page, expected) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (JSON.stringify(await liveKeys()) === JSON.stringify(expected)) return;
    await page.waitForTimeout(100);
  }
  assert.deepEqual(await liveKeys(), expected);
}

await browse(
  async (page) => {
    for (const key of ["erp:0", "erp:1", "erp:2"])
      await ask("DELETE", `/entities/template/customers/by-key?key=${key}`);
    await ask("PUT", "/entities/template/customers/by-key", { external_key: "erp:2", attributes: { name: "Second" } });
    await signIn(page, list("customers"));
    await page.getByText("erp:4").waitFor();
    assert.equal(await page.getByText("erp:1").count(), 0, "the list contains live records");

    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Show deleted records" }).click();
    const row = (key) => page.getByRole("row").filter({ hasText: key });
    await row("erp:1").waitFor();
    assert.equal(await row("erp:4").count(), 0, "the list contains only deleted records");
    assert.match(page.url(), /[?&]deleted=yes/);

    await row("erp:1").getByRole("checkbox").press("Space");
    await row("erp:2").getByRole("checkbox").press("Space");
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await until(page, ["erp:1", "erp:2", "erp:3", "erp:4"]);
    await page.getByText("1 record could not be restored:").waitFor();
    await row("erp:1").waitFor({ state: "detached" });

    await row("erp:0").getByText("Anna").click();
    await page.getByRole("complementary", { name: "Record" }).getByRole("button", { name: "Restore", exact: true }).click();
    await until(page, ["erp:0", "erp:1", "erp:2", "erp:3", "erp:4"]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show live records" }).click();
    await row("erp:0").waitFor();
  },
  { expected: /409/ },
);
