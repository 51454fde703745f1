import assert from "node:assert/strict";
import { ask, browse, expectAccessible, input, quiet, signIn } from "../browser.mjs";
import { startReceiver } from "./receiver.mjs";

const receiver = await startReceiver();
receiver.response = { status: 500, body: `<b>${"x".repeat(2000)}` };
await ask("POST", "/webhook-endpoints", { slug: "shop", url: receiver.url, templates: ["customers"] });
const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
await ask("PATCH", `/entities/${id}`, { attributes: { name: "Anna Müller" } });

for (const options of [{}, { theme: "dark" }])
  await browse(async (page) => {
    await signIn(page, `/p/${input.project}/webhooks/shop`);
    // The delivery waits for its next attempt and shows the reason.
    const row = page.getByRole("row").filter({ hasText: "Changed" });
    await row.getByText("500").waitFor();
    await row.getByText("Waiting").waitFor();
    await page.getByText(/Deliveries have failed since/).waitFor();
    await quiet(page);
    await expectAccessible(page);
    await row.getByRole("link").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/"type": "record\.updated"/).waitFor();
    const response = await dialog.getByRole("group", { name: "Response of the receiver" }).innerText();
    assert.equal(response, receiver.response.body.slice(0, 1024), "the first KiB, as text");
    await dialog.getByText("Next attempt", { exact: true }).waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Close" }).first().click();
    await dialog.waitFor({ state: "detached" });

    // The outcome of a failed test.
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/^The test failed: /).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
  }, options);

await browse(
  async (page) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await signIn(page, "/");
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${input.address}/p/${input.project}/webhooks/shop`);
    await page.getByRole("row").filter({ hasText: "Changed" }).getByRole("link").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Waiting").waitFor();
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
      "nothing is cut off",
    );
    await expectAccessible(page);
    // The receiver works again.
    receiver.response = { status: 200, body: "thanks" };
    const before = receiver.arrived.filter(({ json }) => json.type === "record.updated");
    await dialog.getByRole("button", { name: "Send now" }).click();
    await dialog.getByText("Delivered").waitFor();
    await dialog.getByText("thanks").waitFor();
    const arrived = receiver.arrived.filter(({ json }) => json.type === "record.updated");
    assert.ok(arrived.length > before.length);
    assert.equal(new Set(arrived.map(({ headers }) => headers["webhook-id"])).size, 1, "it keeps its id");
    // A successful delivery can also be sent again.
    await dialog.getByRole("button", { name: "Send again" }).click();
    for (
      let tries = 0;
      receiver.arrived.at(-1).headers["webhook-id"] === undefined ||
      receiver.arrived.length === arrived.length;
      tries += 1
    ) {
      assert.ok(tries < 600, "it is sent again");
      await page.waitForTimeout(100);
    }
    await dialog.getByText("Delivered").waitFor();
  },
  { width: 1280 },
);
receiver.close();
