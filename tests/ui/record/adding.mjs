import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const anna = () => ask("GET", "/entities/template/customers/by-key?key=erp:0");
const named = async (name) => {
  const filters = [{ field: "name", operator: "eq", value: name }];
  return (await ask("POST", "/entities/search/customers", { filters })).records.length;
};

const RECORD = /\/v1\/entities\/[0-9a-f-]{36}(\?|$)/;
const NEW = /\/v1\/entities\/template\/customers$/;

/** Handles the next request of a method to an address with `what`. */
async function meddle(page, method, address, what) {
  let isDone = false;
  await page.route(address, async (route) => {
    if (isDone || route.request().method() !== method) return route.fallback();
    isDone = true;
    await what(route);
  });
  return async () => {
    assert.ok(isDone, "the event occurred");
    await page.unroute(address);
  };
}

/** The service performs the write, and its response is lost. */
const loseAnswer = async (route) => {
  await route.fetch();
  await route.abort();
};
const fail = (route) => route.abort();
/** The service performs the write, and a gateway times out. */
const giveUp = async (route) => {
  await route.fetch();
  const problem = { code: "unavailable", status: 503, detail: "the database does not respond" };
  await route.fulfill({ status: 503, contentType: "application/problem+json", body: JSON.stringify(problem) });
};

await browse(
  async (page) => {
    const { id } = await anna();
    const visits = async () => (await anna()).attributes.visits;
    const points = async () => (await ask("GET", `/entities/${id}/metrics/mood`)).points.length;
    await signIn(page, `${list("customers")}/r/${id}`);

    const open = page.getByRole("button", { name: "Add to visits" });
    const amount = page.getByRole("textbox", { name: "Add to visits" });
    const shows = (value) => page.locator("[data-field=visits]").getByText(value, { exact: true }).waitFor();

    await open.click();
    await amount.fill("5");
    let done = await meddle(page, "PATCH", RECORD, loseAnswer);
    await amount.press("Enter");
    await page.getByText(/cannot be reached/).first().waitFor();
    await done();
    assert.equal(await visits(), 5);
    await amount.press("Enter");
    await amount.waitFor({ state: "detached" });
    assert.equal(await visits(), 5, "the same addition, sent again, is added once");
    await shows("5");

    // The record cannot be reloaded after the write.
    await open.click();
    await amount.fill("2");
    done = await meddle(page, "GET", RECORD, fail);
    await amount.press("Enter");
    await amount.waitFor({ state: "detached" });
    await shows("7");
    await done();

    // Enter twice, before the response.
    let release = () => {};
    const held = new Promise((resolve) => (release = resolve));
    let sent = 0;
    await page.route(RECORD, async (route) => {
      if (route.request().method() === "PATCH") {
        sent += 1;
        await held;
      }
      await route.continue();
    });
    await open.click();
    await amount.fill("1");
    await amount.press("Enter");
    await amount.press("Enter");
    release();
    await shows("8");
    await page.unroute(RECORD);
    assert.equal(sent, 1, "nothing is sent during the request");

    await page.getByRole("tab", { name: "Metrics" }).click();
    await page.getByRole("button", { name: "Add a point" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a point" });
    await dialog.getByRole("textbox", { name: "mood" }).fill("3");
    done = await meddle(page, "PATCH", RECORD, loseAnswer);
    await page.keyboard.press("Enter");
    await dialog.getByText(/cannot be reached/).waitFor();
    await done();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    assert.equal(await points(), 1, "a point is added once");
    const drawer = page.getByRole("complementary", { name: "Record" });
    await drawer.getByRole("button", { name: "Close the record" }).click();
    await drawer.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "New record", exact: true }).click();
    await page.getByRole("textbox", { name: "name" }).fill("Zoé");
    done = await meddle(page, "POST", NEW, giveUp);
    const create = page.getByRole("button", { name: "Create record" });
    await create.click();
    await page.getByText(/does not respond/).first().waitFor();
    await done();
    assert.equal(await named("Zoé"), 1);
    await create.click();
    await create.waitFor({ state: "detached" });
    assert.equal(await named("Zoé"), 1, "a record is created once");
  },
  { expected: /503|ERR_FAILED/ },
);
