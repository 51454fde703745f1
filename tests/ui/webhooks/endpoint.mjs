import assert from "node:assert/strict";
import { ask, browse, expectAccessible, input, list, quiet, signIn } from "../browser.mjs";
import { signature, startReceiver } from "./receiver.mjs";

const receiver = await startReceiver();
const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");

/** The secret in a dialog. */
async function secretOf(page) {
  const dialog = page.getByRole("alertdialog");
  const secret = await dialog.getByRole("group", { name: "Secret" }).innerText();
  assert.match(secret, /^whsec_/);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  return secret;
}

await browse(
  async (page) => {
    await signIn(page, list("customers"));
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByText("No webhook endpoints yet").waitFor();
    await page.getByRole("button", { name: "New endpoint" }).click();

    // Errors are shown at their fields.
    await page.getByRole("textbox", { name: "Name" }).fill("Not a slug");
    await page.getByRole("textbox", { name: "URL" }).fill(receiver.url);
    await page.getByRole("button", { name: "Create endpoint" }).click();
    await page.getByRole("textbox", { name: "Name" }).and(page.locator("[aria-invalid=true]")).waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill("shop");

    // Only changed customers whose name begins with Anna.
    const templates = page.getByRole("radiogroup", { name: "Templates" });
    await templates.getByText("Only these").click();
    assert.ok(await page.getByRole("button", { name: "Create endpoint" }).isDisabled());
    await page.getByRole("group", { name: "Templates" }).getByText("Our customers").click();
    await page.getByRole("radiogroup", { name: "Changes" }).getByText("Only these").click();
    await page.getByRole("group", { name: "Changes" }).getByText("Changed", { exact: true }).click();
    await page.getByText("Only records that match a filter").click();
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByRole("dialog").getByRole("combobox").fill("name");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("textbox").last().fill("Anna");
    await page.keyboard.press("Enter");
    await page.getByRole("row").filter({ hasText: "Anna" }).waitFor();
    await page.getByText("Include the record").click();
    await quiet(page);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create endpoint" }).click();
    const secret = await secretOf(page);
    await page.getByText("No deliveries yet").waitFor();
    const { filter, ...endpoint } = await ask("GET", "/webhook-endpoints/shop");
    assert.deepEqual(endpoint.templates, ["customers"]);
    assert.deepEqual(endpoint.operations, ["update"]);
    assert.equal(endpoint.include_record, true);
    assert.match(JSON.stringify(filter), /"name".*"Anna"/);

    // A signed test is delivered, and the page shows the response of the receiver.
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/^The receiver responded with 204 in \d+ ms\.$/).waitFor();
    assert.equal(receiver.arrived[0].json.type, "test");
    assert.equal(receiver.arrived[0].headers["webhook-signature"], signature(receiver.arrived[0], secret));
    await page.getByRole("row").filter({ hasText: "Delivered" }).waitFor();
    await expectAccessible(page);

    // A change is delivered, and the delivery appears without a reload.
    await ask("PATCH", `/entities/${id}`, { attributes: { visits: 5 } });
    await page.getByRole("row").filter({ hasText: "Changed" }).getByText("Delivered").waitFor();
    assert.equal(receiver.arrived[1].json.data.record.attributes.visits, 5);

    // After the rotation of the secret, deliveries have both signatures.
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Rotate the secret" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Rotate the secret" }).click();
    await page.getByRole("heading", { name: "The new secret" }).waitFor();
    const next = await secretOf(page);
    await page.getByText(/deliveries are also signed with the previous secret/).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/^The receiver responded with 204/).waitFor();
    const [signatures, last] = [receiver.arrived[2].headers["webhook-signature"], receiver.arrived[2]];
    assert.deepEqual(signatures.split(" ").sort(), [signature(last, secret), signature(last, next)].sort());

    // The definition is changed, and only the differences are sent.
    await page.getByRole("textbox", { name: "Name" }).fill("store");
    await page.getByRole("radiogroup", { name: "Changes" }).getByText("All changes").click();
    await quiet(page);
    await expectAccessible(page);
    const patched = page.waitForRequest((request) => request.method() === "PATCH");
    await page.getByRole("button", { name: "Save settings" }).click();
    await patched;
    await page.getByText("Settings saved").waitFor();
    await page.getByRole("heading", { name: "store" }).waitFor();
    const changed = await ask("GET", "/webhook-endpoints/store");
    assert.deepEqual([changed.operations, changed.templates], [null, ["customers"]]);

    // While the endpoint is paused, changes wait. On resume, the user chooses whether they are delivered.
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("This endpoint is paused.").waitFor();
    await ask("PATCH", `/entities/${id}`, { attributes: { visits: 6 } });
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Continue" }).click();
    await page.getByText("This endpoint is paused.").waitFor({ state: "detached" });
    for (let tries = 0; receiver.arrived.length < 4; tries += 1) {
      assert.ok(tries < 600, "the change is delivered");
      await page.waitForTimeout(100);
    }
    assert.equal(receiver.arrived[3].json.data.record.attributes.visits, 6);

    await page.getByRole("link", { name: "All endpoints" }).click();
    await page.getByRole("row").filter({ hasText: "store" }).getByText("Active").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "store" }).click();
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Remove endpoint" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove endpoint" }).click();
    await page.getByText("No webhook endpoints yet").waitFor();
    assert.equal(page.url(), `${input.address}/p/${input.project}/webhooks`);
  },
  { expected: /422/ },
);
receiver.close();
