import assert from "node:assert/strict";
import { ask, browse, list, signIn, input } from "../browser.mjs";

/** The cell of a record in a column. */
const cell = (page, text) => page.getByRole("gridcell", { name: text, exact: true });

await browse(async (page) => {
  const attributes = [
    { slug: "title", type: "string" },
    { slug: "year", type: "number", label: "Year" },
    { slug: "width", type: "number", label: "Width" },
    { slug: "site", type: "string", label: "Site" },
  ];
  await ask("POST", "/templates", { slug: "works", label: "Works", attributes });
  const add = (key, values) =>
    ask("PUT", "/entities/template/works/by-key", { external_key: key, attributes: { title: key, ...values } });
  await add("A", { year: 1819, width: 1008.55, site: "https://example.org/a" });
  await add("B", { year: 1976, width: 12000, site: "javascript:alert(1)" });

  await signIn(page, list("works"));
  await cell(page, "1819").waitFor();
  await cell(page, "1,008.55").waitFor();

  await page.goto(`${input.address}${list("works")}/definition`);
  await page.getByRole("button", { name: "Width", exact: true }).click();
  const dialog = page.getByRole("dialog").or(page.getByRole("alertdialog"));
  const choose = async (field, option) => {
    await dialog.getByRole("button", { name: field }).click();
    await page.getByRole("option", { name: option }).click();
  };
  await choose("Decimals", "1");
  await choose("Unit", "Unit");
  await dialog.getByLabel("Unit name").fill("mm");
  await dialog.getByText("Example: 1,234.5\u00a0mm.").waitFor();
  await dialog.getByText("Values are shown in another format. The values do not change.").waitFor();
  await page.getByRole("button", { name: "Save changes", disabled: false }).click();
  await page.getByText("Width changed").waitFor();

  await page.getByRole("button", { name: "Site", exact: true }).click();
  await choose("Text", "Link");
  await page.getByRole("button", { name: "Save changes", disabled: false }).click();
  await page.getByText("Site changed").waitFor();

  await page.goto(input.address + list("works"));
  await cell(page, "1,008.6\u00a0mm").waitFor();
  await cell(page, "12,000.0\u00a0mm").waitFor();
  const link = page.getByRole("link", { name: "https://example.org/a" });
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  await cell(page, "javascript:alert(1)").waitFor();
  assert.equal(await page.getByRole("link", { name: /javascript/ }).count(), 0, "only addresses of the web are links");
  const record = await ask("GET", "/entities/template/works/by-key?key=A");
  assert.equal(record.attributes.width, 1008.55, "the format does not change the value");
});
