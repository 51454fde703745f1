import assert from "node:assert/strict";
import { ask, browse, expectAccessible, list, quiet, signIn } from "../browser.mjs";

const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
const end = "the end of it";
await ask("PATCH", `/entities/${id}`, { attributes: { name: `${"long ".repeat(2000)}${end}` } });

await browse(async (page) => {
  await signIn(page, `${list("customers")}/r/${id}`);
  // The announcement of the sign-in button remains for some seconds.
  await page.reload();
  const record = page.getByRole("complementary", { name: "Record" });
  const value = record.locator("[data-field=name]");
  await value.getByRole("button", { name: "Show all 10,013 characters" }).waitFor();
  assert.equal(await value.getByText(end).count(), 0);
  await quiet(page);
  await expectAccessible(page);
  await value.getByRole("button", { name: /Show all/ }).click();
  await value.getByText(end).waitFor();
  await value.getByRole("button", { name: "Show less" }).click();
  await value.getByText(end).waitFor({ state: "detached" });
});
