/** Takes the screenshots of the documentation from the project of `make run`: run by `.dev/application pictures`. */
import { browse, list, input } from "./browser.mjs";

const CUSTOMERS = `${list("customers")}?f=city:in:Bern,Basel&s=-credit`;

const FILE =
  "external_key;name;city;company;credit;born\n" +
  "erp:6001;Ada Keller;Bern;erp:c1;80.50;1990-02-11\n" +
  "erp:6002;Ben Frei;Basel;erp:c2;20;1984-10-03\n" +
  "erp:6003;Clea Roth;Zug;erp:c3;1250;1977-06-29\n";

/** Takes one screenshot of the page that `prepare` leaves. */
async function picture(name, path, prepare, options) {
  await browse(async (page) => {
    await page.goto(input.address + path);
    await page.getByLabel("API key").fill(input.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await prepare(page);
    // The record counts in the navigation load last.
    if (options?.width === undefined) await page.getByText("1.2K").waitFor();
    await page.waitForLoadState("networkidle");
    await page.evaluate(() => document.activeElement?.blur());
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${input.folder}/${name}.png`, animations: "disabled" });
  }, options);
}

const rows = (page) => page.getByRole("row").nth(8).waitFor();

await picture("list", CUSTOMERS, rows);
await picture("list-dark", `${list("orders")}?s=-placed`, rows, { theme: "dark" });
// Cards in a small window.
await picture("list-narrow", CUSTOMERS, (page) => page.getByRole("row").nth(2).waitFor(), { width: 390 });
await picture("record", CUSTOMERS, async (page) => {
  await page.getByRole("row").nth(2).getByRole("gridcell").nth(1).dblclick();
  await page.getByRole("tab", { name: "History" }).waitFor();
});
await picture("import", `${list("customers")}/import`, async (page) => {
  const file = { name: "customers.csv", mimeType: "text/csv", buffer: Buffer.from(FILE) };
  await page.locator("input[type=file]").first().setInputFiles(file);
  await page.getByRole("button", { name: "Match columns" }).click();
  await page.getByRole("button", { name: "Check the file" }).waitFor();
});
await picture("template", `${list("customers")}/definition`, (page) => page.getByText("Title of a record").first().waitFor());
await picture("access", `/p/${input.project}/access`, (page) => page.getByText("Your key").waitFor());
await picture("operations", `/p/${input.project}/operations`, (page) => page.getByText("Check again").waitFor(), {
  theme: "dark",
});
