import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

const synonyms = async () => (await ask("GET", "/templates/customers")).synonyms;

await browse(
  async (page) => {
    await signIn(page, `${list("customers")}/definition`);
    const field = page.getByRole("textbox", { name: "Synonyms" });
    await field.fill("Anna, Hanna\nBeat");
    await page.getByText(/^Line 2: A set must have 2 to 20 synonyms/).waitFor();
    assert.ok(await page.getByRole("button", { name: "Save changes" }).isDisabled(), "invalid input is not sent");
    await field.fill("Anna, Hanna\nsomeone > Beat, Chloé");
    await page.getByText("The search uses the new synonyms immediately.").waitFor();
    await page.getByRole("button", { name: "Save changes", disabled: false }).click();
    await page.getByText(/ changed$/).first().waitFor();
    assert.deepEqual(await synonyms(), [
      { synonyms: ["Anna", "Hanna"] },
      { root: "someone", synonyms: ["Beat", "Chloé"] },
    ]);

    // A word with a comma cannot be written as a line, and no edit may lose it.
    await ask("PATCH", "/templates/customers", { synonyms: [{ synonyms: ["Anna", "Anna, M."] }] });
    await page.reload();
    await page.getByText("they can be changed only with the API").waitFor();
    assert.equal(await field.getAttribute("readonly"), "");
  },
  { expected: /422/ },
);
