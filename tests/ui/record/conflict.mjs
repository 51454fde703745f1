import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const anna = () => ask("GET", "/entities/template/customers/by-key?key=erp:0");

await browse(
  async (page) => {
    const { id } = await anna();
    await signIn(page, `${list("customers")}/r/${id}`);
    await page.getByRole("button", { name: "Edit visits" }).click();
    const field = page.getByRole("textbox", { name: "visits" });
    await field.fill("100");
    await ask("PATCH", `/entities/${id}`, { attributes: { visits: 41, name: "Anna Meier" } });
    await field.press("Enter");

    await page.getByText("While you were editing:").waitFor();
    assert.equal((await anna()).attributes.visits, 41, "no unseen change is overwritten");
    await page.getByText("Anna Meier").first().waitFor();
    await page.getByRole("gridcell", { name: "Anna Meier" }).first().waitFor();
    // The field shows its conflict, and the record shows the other changes.
    await page.getByRole("button", { name: "Dismiss" }).waitFor();
    const banners = page.getByRole("status").filter({ hasText: "visits" });
    assert.equal(await banners.count(), 1, "one banner says that visits were changed");
    await page.getByRole("button", { name: "Save yours" }).click();
    await page.getByRole("button", { name: "Edit visits" }).waitFor();
    for (let tries = 0; (await anna()).attributes.visits !== 100; tries += 1) {
      assert.ok(tries < 600, "the chosen value is saved");
      await page.waitForTimeout(100);
    }
    assert.equal((await anna()).attributes.name, "Anna Meier", "the other field is merged automatically");
  },
  { expected: /412/ },
);
