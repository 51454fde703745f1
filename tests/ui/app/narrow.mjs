import assert from "node:assert/strict";
import { browse, expectAccessible, input, list, quiet, signIn } from "../browser.mjs";

for (const theme of ["light", "dark"])
  await browse(
    async (page) => {
      // The navigation is hidden on a narrow screen until it is opened.
      await page.setViewportSize({ width: 1280, height: 844 });
      await signIn(page, list("customers"));
      // The list actions are buttons if they fit.
      for (const name of ["Import", "Export", "Edit template"])
        await page.getByRole("button", { name, exact: true }).waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(input.address + list("customers"));
      await page.getByText("erp:4").first().waitFor();
      // The rail is collapsed, so the bar shows the project name. Keyboard shortcuts are not shown.
      await page.getByRole("main").getByText("Customers", { exact: true }).first().waitFor();
      assert.equal(await page.getByRole("main").getByText("keyed", { exact: true }).count(), 0);
      assert.equal(await page.locator("kbd:visible").count(), 0);
      // A table would show two columns, so the records are cards. The arrow key moves to them from the search.
      assert.equal(await page.getByRole("columnheader").count(), 0);
      const search = page.getByRole("main").getByRole("combobox").first();
      await search.focus();
      await page.keyboard.press("ArrowDown");
      await page.locator("[role=row]:focus").waitFor();
      await quiet(page);
      await expectAccessible(page);
      // The buttons are in the menu.
      assert.equal(await page.getByRole("button", { name: "Import", exact: true }).count(), 0);
      await page.getByRole("button", { name: "More", exact: true }).click();
      for (const name of ["Export this list as CSV", "Change the template", "Import a file"])
        await page.getByRole("menuitem", { name }).waitFor();
      await expectAccessible(page);
    },
    { theme },
  );
