import assert from "node:assert/strict";
import { browse, colleague, list, signIn } from "../browser.mjs";

const { ask } = colleague();
const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
const rename = (name) => ask("PATCH", `/entities/${id}`, { attributes: { name } });

/** Simulates that the user switches to another tab, or returns. */
const hide = (page, hidden) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    Object.defineProperty(document, "visibilityState", {
      configurable: true,
      get: () => (hidden ? "hidden" : "visible"),
    });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

await browse(
  async (page) => {
    await page.clock.install();
    const lists = [];
    await page.route("**/entities/search/customers", (route) => {
      const { filters = [], limit } = route.request().postDataJSON();
      if (limit === 50) lists.push(filters);
      return route.continue();
    });
    const feeds = [];
    page.on("request", (request) => {
      if (/\/v1\/changes/.test(request.url())) feeds.push(request.headers()["last-event-id"] ?? null);
    });
    const connected = () => page.waitForResponse(/\/v1\/changes/);
    let feed = connected();
    await signIn(page, list("customers"));
    await feed;
    await page.getByText("Anna", { exact: true }).waitFor();

    // A tab that has been hidden for a while has no connection.
    const ended = page.waitForEvent("requestfailed", (request) => /\/v1\/changes/.test(request.url()));
    await hide(page, true);
    await page.clock.fastForward(20_000);
    await ended;
    await rename("While away");
    const before = lists.length;
    feed = connected();
    await hide(page, false);
    await feed;
    await page.getByText("While away", { exact: true }).waitFor();
    assert.equal(feeds[0], null);
    assert.ok(feeds.at(-1), "the feed continues at its cursor");
    assert.equal(lists.length, before, "the list is not reloaded");

    // If the feed no longer has the missed changes, the list is reloaded.
    let refused = 0;
    await page.route("**/v1/changes*", async (route) => {
      if (!route.request().headers()["last-event-id"]) return route.continue();
      refused += 1;
      const problem = {
        type: "about:blank",
        title: "Gone",
        status: 410,
        code: "resync_required",
        detail: "restored",
      };
      return route.fulfill({
        status: 410,
        contentType: "application/problem+json",
        body: JSON.stringify(problem),
      });
    });
    const ends = page.waitForEvent("requestfailed", (request) => /\/v1\/changes/.test(request.url()));
    await hide(page, true);
    await page.clock.fastForward(20_000);
    await ends;
    await rename("After the gap");
    await hide(page, false);
    await page.clock.fastForward(60_000);
    await page.getByText("After the gap", { exact: true }).waitFor();
    assert.equal(refused, 1);
    assert.equal(feeds.at(-1), null, "the feed starts with the next change");
    await rename("Live again");
    await page.getByText("Live again", { exact: true }).waitFor();
  },
  { expected: /410/ },
);
