import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

await browse(
  async (page) => {
    const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
    const holder = await ask("GET", "/entities/template/customers/by-key?key=erp:1");
    await signIn(page, `${list("customers")}/r/${id}`);
    await page.getByRole("button", { name: "Change", exact: true }).click();
    const field = page.getByRole("textbox", { name: "External key" });
    await field.fill("  erp:1 ");
    await page.getByText("5 of 255 characters").waitFor();
    await field.press("Enter");
    await page.getByText("Key “erp:1” belongs to another record.").waitFor();
    assert.equal((await ask("GET", `/entities/${id}`)).external_key, "erp:0");
    await page.getByRole("button", { name: "Open that record" }).or(page.getByRole("link", { name: "Open that record" })).click();
    await page.waitForURL(new RegExp(holder.id));
  },
  { expected: /409/ },
);
