import assert from "node:assert/strict";
import { ask, browse, signIn, input } from "../browser.mjs";

await ask("PATCH", `/entities/${(await ask("GET", "/entities/template/customers/by-key?key=erp:1")).id}`, {
  attributes: { visits: 1234.5, seen: "2024-02-29T12:45:00Z" },
});

await browse(
  async (page) => {
    await signIn(page, `/p/${input.project}/files?template=customers`);
    const choose = async (field, choice) => {
      await page.getByRole("button", { name: new RegExp(`${field}$`) }).click();
      await page.getByRole("option", { name: choice }).click();
    };
    await choose("Format", /^CSV for Excel/);
    await choose("Delimiter", /^Semicolon/);
    await choose("Decimal mark", /^Comma/);
    assert.ok(await page.getByRole("checkbox", { name: /^Byte order mark/ }).isChecked());
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), "customers.csv");
    const text = Buffer.concat(await (await file.createReadStream()).toArray()).toString();
    assert.ok(text.startsWith("\ufeffid;external_key;"), text.slice(0, 60));
    const row = text.split("\n").find((line) => line.includes("erp:1"));
    assert.match(row, /;1234,5;/);
    assert.match(row, /;2024-02-29 13:45:00;/);
  },
  { timezoneId: "Europe/Zurich" },
);
