import assert from "node:assert/strict";
import { browse, list, signIn } from "../browser.mjs";

await browse(async (page) => {
  await signIn(page, list("customers"));
  await page.getByText("erp:4").first().waitFor();

  const searches = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/entities/search/customers")) searches.push(request.postDataJSON());
  });
  // The first letter is never answered.
  await page.route("**/entities/search/customers", (route) =>
    route.request().postDataJSON().global_search === "B" ? undefined : route.continue(),
  );
  const isSearch = (word) => (request) => request.postDataJSON()?.global_search === word;
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
  assert.deepEqual(counting, [], "records do not wait for their number");
});
