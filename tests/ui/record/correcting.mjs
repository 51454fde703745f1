import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const FUTURE = "2999-01-01T12:00:00Z";

await browse(async (page) => {
  const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
  const mood = [
    { at: "2024-02-29T12:00:00Z", value: 3 },
    { at: FUTURE, value: 999 },
  ];
  await ask("PATCH", `/entities/${id}`, { attributes: { mood } });
  const points = async () => (await ask("GET", `/entities/${id}/metrics/mood`)).points.map(({ value }) => value);
  const latest = async () => (await ask("GET", `/entities/${id}`)).attributes.mood;
  assert.equal(await latest(), 999);

  await signIn(page, `${list("customers")}/r/${id}`);
  await page.getByRole("tab", { name: "Metrics" }).click();
  await page.getByRole("button", { name: "All" }).click();
  const metric = page.getByRole("region", { name: "mood" }).first();
  await metric.getByRole("button", { name: "As a table" }).click();
  await metric.getByRole("cell", { name: "999", exact: true }).waitFor();

  // The newest point is the first row.
  await metric.getByRole("button", { name: /^Delete the point at .*2999/ }).click();
  await page.getByRole("button", { name: "Delete point", exact: true }).click();
  await page.getByText("Point deleted").waitFor();
  await metric.getByRole("cell", { name: "999", exact: true }).waitFor({ state: "detached" });
  assert.notEqual(await latest(), 999);
  const before = await points();

  await metric.getByRole("button", { name: /^Correct the point at .*2024/ }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("3.5");
  await page.getByRole("button", { name: "Correct", exact: true }).click();
  await page.getByText("Point corrected").waitFor();
  await metric.getByRole("cell", { name: "3.5", exact: true }).waitFor();
  assert.deepEqual(await points(), before.map((value) => (value === 3 ? 3.5 : value)));
});
