import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

await browse(
  async (page) => {
    const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
    await signIn(page, `${list("customers")}/r/${id}`);
    await page.getByRole("button", { name: "Record actions" }).click();
    await page.getByRole("menuitem", { name: "Delete the record" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: /^Delete/ }).click();
    await page.getByText(/This record was deleted|deleted this record/).waitFor();

    await ask("PUT", "/entities/template/customers/by-key", { external_key: "erp:0", attributes: { name: "Second" } });
    await page.getByRole("button", { name: "Restore", exact: true }).first().click();
    await page.getByText("Key “erp:0” belongs to another record.").waitFor();
    const dialog = page.getByRole("alertdialog");
    const key = dialog.getByRole("textbox", { name: "New key" });
    await key.press("Enter");
    assert.notEqual((await ask("GET", `/entities/${id}?include_deleted=true`)).deleted_at, null, "it stays deleted");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await dialog.getByRole("button", { name: "Restore without a key" }).click();
    await page.getByText(/This record was deleted|deleted this record/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.getByRole("complementary", { name: "Record" }).waitFor({ state: "detached" });
    const record = await ask("GET", `/entities/${id}`);
    assert.equal(record.external_key, null);
    assert.equal(record.deleted_at, null);
  },
  { expected: /409|404/ },
);
