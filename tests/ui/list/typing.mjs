import assert from "node:assert/strict";
import { body, browse, list, signIn } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page, list("customers"));
  await page.getByText("erp:4").first().waitFor();

  const searches = [];
  // The search for the first letter never gets a response.
  await page.route("**/entities/search/customers", (route) => {
    const search = route.request().postDataJSON();
    searches.push(search);
    return search.global_search === "B" ? undefined : route.continue();
  });
  const isSearch = (word) => (request) => body(request).global_search === word;
  await page.getByRole("combobox").focus();
  const first = page.waitForRequest(isSearch("B"));
  const ended = page.waitForEvent("requestfailed", isSearch("B"));
  await page.keyboard.type("B");
  await first;
  await page.keyboard.type("eat");
  assert.match((await ended).failure().errorText, /ABORTED/);
  await page.getByText("erp:4").waitFor({ state: "detached" });
  await page.getByText("erp:1").first().waitFor();
  const counting = searches.filter(({ limit, count }) => limit !== 1 && count !== undefined);
  assert.notDeepEqual(searches, []);
  assert.deepEqual(counting, [], "records are shown before their count");
});
