import assert from "node:assert/strict";
import { ask, browse, expectAccessible } from "../browser.mjs";
import { choose, openImport } from "./open.mjs";

/** A file as saved by Excel in German. */
const GERMAN =
  "\ufeffexternal_key;name;visits;born;active\r\n" +
  "d:1;Müller;1.234,5;31.12.1990;ja\r\nd:2;Öztürk;12;01.02.1991;nein\r\nd:3;Weiß;0,25;05.11.1989;Ja\r\n";
/** A file that does not show whether the day or the month comes first. */
const EITHER = "external_key,born\ne:1,01/02/2024\ne:2,03/04/2024\ne:3,05/05/2024\n";

const attributes = async (key) =>
  (await ask("GET", `/entities/template/customers/by-key?key=${encodeURIComponent(key)}`)).attributes;

/** Three clicks after the file is chosen. */
await browse(
  async (page) => {
    await openImport(page);
    await choose(page, "kunden.csv", GERMAN);
    await page.getByRole("button", { name: "Match columns" }).click();
    const format = page.getByRole("region", { name: "Cell format" });
    await format.getByRole("button", { name: /Comma.*Decimal mark/ }).waitFor();
    await format.getByRole("button", { name: /Point.*Thousands separator/ }).waitFor();
    await format.getByRole("button", { name: /DD\.MM\.YYYY.*Dates/ }).waitFor();
    assert.equal(await format.getByLabel("Words for true").inputValue(), "ja");
    assert.equal(await format.getByLabel("Words for false").inputValue(), "nein");
    await page.getByRole("cell", { name: "Checked in the next step DD.MM.YYYY" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Check the file" }).click();
    await page.getByRole("button", { name: "Import 3 rows" }).click();
    await page.getByText(/3 records created/).waitFor();
  },
  { timezoneId: "Europe/Berlin" },
);
const first = await attributes("d:1");
assert.deepEqual(
  [first.name, first.visits, first.born, first.active],
  ["Müller", 1234.5, "1990-12-31", true],
);
const second = await attributes("d:2");
assert.deepEqual([second.visits, second.born, second.active], [12, "1991-02-01", false]);

/** With the keyboard, on a phone. */
for (const theme of ["light", "dark"])
  await browse(
    async (page) => {
      await openImport(page);
      await choose(page, "dates.csv", EITHER);
      await page.getByRole("button", { name: "Match columns" }).click();
      const question = page.getByRole("radiogroup", { name: "Which format does the column born have?" });
      const [day, month] = [/^DD\/MM\/YYYY/, /^MM\/DD\/YYYY/].map((name) => question.getByRole("radio", { name }));
      await question.getByText("01/02/2024 → February 1, 2024").waitFor();
      await question.getByText("01/02/2024 → January 2, 2024").waitFor();
      assert.equal(await question.getByText("05/05/2024").count(), 0, "both formats read it alike");
      const next = page.getByRole("button", { name: "Check the file" });
      assert.ok(await next.isDisabled(), "no format is assumed");
      await expectAccessible(page);
      const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
      assert.equal(await page.evaluate(overflow), 0);
      await day.focus();
      await page.keyboard.press("Space");
      assert.ok(await day.isChecked());
      await page.keyboard.press("ArrowDown");
      assert.ok(await month.isChecked());
      await expectAccessible(page);
      await next.press("Enter");
      await page.getByRole("button", { name: /^Import 3 rows|^Back/ }).first().waitFor();
      if (theme === "light") await page.getByRole("button", { name: "Import 3 rows" }).press("Enter");
      else await page.getByText("All records already have the values in the file.").waitFor();
      if (theme === "light") await page.getByText(/3 records created/).waitFor();
    },
    { width: 390, theme },
  );
assert.equal((await attributes("e:1")).born, "2024-01-02");
