import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

await browse(
  async (page) => {
    const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
    await signIn(page, `${list("customers")}/r/${id}`);
    await page.getByRole("button", { name: "Actions of this record" }).click();
    await page.getByRole("menuitem", { name: "Delete the record" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: /^Delete/ }).click();
    await page.getByText(/This record was deleted|deleted this record/).waitFor();

    await ask("PUT", "/entities/template/customers/by-key", { external_key: "erp:0", attributes: { name: "Second" } });
    await page.getByRole("button", { name: "Restore", exact: true }).first().click();
    await page.getByText('Key "erp:0" belongs to another record.').waitFor();
    await page.getByRole("dialog").or(page.getByRole("alertdialog")).getByRole("button", { name: "Restore" }).click();
    await page.getByText(/This record was deleted|deleted this record/).waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.getByRole("complementary", { name: "Record" }).waitFor({ state: "detached" });
    const record = await ask("GET", `/entities/${id}`);
    assert.equal(record.external_key, null);
    assert.equal(record.deleted_at, null);
  },
  { expected: /409|404/ },
);
