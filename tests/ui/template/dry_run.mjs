import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

await browse(
  async (page) => {
    const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");
    await ask("PATCH", `/entities/${id}`, { attributes: { visits: null } });
    await signIn(page, `${list("customers")}/definition`);
    await page.getByRole("button", { name: "visits", exact: true }).click();
    // After an edit, the dialog does not close on a click outside.
    const dialog = page.getByRole("dialog").or(page.getByRole("alertdialog"));
    await dialog.getByText("Required", { exact: true }).click();
    await page.getByText(/^A required attribute has no value in some records/).waitFor();
    assert.ok(await page.getByRole("button", { name: "Save changes" }).isDisabled(), "invalid input is not sent");
    await dialog.getByText("Required", { exact: true }).click();
    await dialog.getByText("Indexed", { exact: true }).click();
    await page.getByRole("button", { name: "Save changes", disabled: false }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "Actions for visits" }).click();
    await page.getByRole("menuitem", { name: /Drop/ }).click();
    await page.getByText("Removes 4 values of visits.").waitFor();
    const { attributes } = await ask("GET", "/templates/customers");
    const visits = attributes.find(({ slug }) => slug === "visits");
    assert.deepEqual([visits.required, visits.indexed], [false, false], "nothing happens before confirmation");
  },
  { expected: /422|409/ },
);
