import assert from "node:assert/strict";
import { ask, browse, expectAccessible, list, signIn } from "../browser.mjs";

await ask("POST", "/templates", {
  slug: "parts",
  attributes: [
    { slug: "name", type: "string", required: true },
    { slug: "weight", type: "number", required: true },
    { slug: "made", type: "date", required: true },
    { slug: "tags", type: "list", required: true },
    { slug: "kind", type: "string", required: true, default: "screw" },
    { slug: "note", type: "string" },
  ],
});

await browse(
  async (page) => {
    await signIn(page, list("parts"));
    await page.getByRole("heading", { name: "No records in parts yet" }).waitFor();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog");
    const field = (name) => dialog.getByRole("textbox", { name, exact: true });
    for (const name of ["name", "weight"]) {
      await field(name).waitFor();
      assert.equal(await field(name).getAttribute("aria-required"), "true", name);
    }
    assert.equal(await dialog.getByRole("combobox", { name: /tags/ }).getAttribute("aria-required"), "true");
    // A default makes a value optional.
    for (const name of ["kind", "note"]) assert.notEqual(await field(name).getAttribute("aria-required"), "true", name);

    // The code of the date editor loads later.
    await dialog.getByText("made", { exact: false }).first().waitFor();
    const marked = async () =>
      (await dialog.locator("label, [class*=label]").allInnerTexts()).filter((text) => text.endsWith("*"));
    assert.deepEqual(await marked(), ["name *", "weight *", "made *", "tags *"]);
    await dialog.getByText("* required", { exact: true }).waitFor();
    await expectAccessible(page);

    // The missing value is reported at its field. A form with input asks before it closes.
    await field("name").fill("M4");
    const filled = page.getByRole("alertdialog");
    await filled.getByRole("button", { name: "Create record" }).click();
    await filled.locator("[aria-invalid=true]").first().waitFor();
  },
  // A record without its required values is rejected.
  { expected: /422/ },
);
