import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");

await browse(
  async (page) => {
    await signIn(page, `${list("customers")}/r/${id}`);
    const record = page.getByRole("complementary", { name: "Record" });
    const edge = page.getByRole("separator", { name: "Record panel width" });
    const grid = page.getByRole("grid");
    const width = async () => Math.round((await record.boundingBox()).width);
    await record.getByRole("heading", { name: "Anna" }).waitFor();
    const [box, beside] = [await record.boundingBox(), await grid.boundingBox()];
    assert.ok(beside.x + beside.width <= box.x, "the record does not cover the list");

    const first = await width();
    await edge.focus();
    await page.keyboard.press("ArrowLeft");
    assert.equal(await width(), first + 24);
    await page.keyboard.press("Home");
    assert.equal(await width(), 360);
    assert.equal(await edge.getAttribute("aria-valuenow"), "360");

    const from = await edge.boundingBox();
    await page.mouse.move(from.x + 4, from.y + 200);
    await page.mouse.down();
    await page.mouse.move(from.x - 96, from.y + 200, { steps: 4 });
    await page.mouse.up();
    assert.equal(await width(), 460);
    await page.reload();
    await record.getByRole("heading", { name: "Anna" }).waitFor();
    assert.equal(await width(), 460, "this browser remembers the width");

    await page.setViewportSize({ width: 390, height: 800 });
    await edge.waitFor({ state: "hidden" });
    assert.equal(await width(), 390, "on a narrow screen, the record covers the list");
  },
  { width: 1440 },
);
