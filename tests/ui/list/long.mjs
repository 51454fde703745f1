import assert from "node:assert/strict";
import { body, browse, importMany, list, signIn } from "../browser.mjs";

const ROWS = 6000;
await importMany(ROWS);

await browse(async (page) => {
  const asked = [];
  page.on("request", (request) => {
    if (/entities\/search\/customers$/.test(request.url())) asked.push(body(request));
  });
  await page.route("**/entities/search/customers", (route) => route.continue());
  await signIn(page, `${list("customers")}?s=visits`);
  const grid = page.getByRole("grid");
  await page.getByText("erp:0", { exact: true }).waitFor();

  // Scrolls to the last record, page by page.
  const last = page.getByText(`n:${ROWS - 1}`, { exact: true });
  await grid.focus();
  while ((await last.count()) === 0) {
    const before = await grid.evaluate((it) => it.scrollHeight);
    await page.keyboard.press("Control+End");
    await page.waitForFunction(
      ([height, text]) => {
        const isLast = [...document.querySelectorAll("[data-row] code")].some((it) => it.textContent === text);
        return isLast || document.querySelector("[role=grid]").scrollHeight > height;
      },
      [before, `n:${ROWS - 1}`],
    );
  }
  await last.waitFor();
  const height = await grid.evaluate((it) => it.scrollHeight);

  // The first records were unloaded. They are requested again and have the same positions.
  const seen = asked.length;
  await page.keyboard.press("Control+Home");
  await page.getByText("erp:0", { exact: true }).waitFor();
  await page.getByText("n:10", { exact: true }).waitFor();
  assert.ok(asked.slice(seen).some(({ limit, cursor }) => limit === 50 && cursor === undefined));
  assert.equal(await grid.evaluate((it) => it.scrollHeight), height, "the list is as long as before");

  // The last records are still loaded, or are loaded again at the same positions.
  await page.keyboard.press("Control+End");
  await last.waitFor();
  assert.equal(await grid.evaluate((it) => it.scrollTop + it.clientHeight), height);
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "Details" }).waitFor();
});
