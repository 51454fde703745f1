import assert from "node:assert/strict";
import { ask, browse, expectAccessible, list, signIn, input } from "../browser.mjs";

await ask("POST", "/templates", { slug: "parts", attributes: [{ slug: "name", type: "string" }] });

/** Fails unless the message is centered in its container. */
async function expectCentred(heading) {
  const off = await heading.evaluate((it) => {
    const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
    const texts = [...it.parentElement.children].map((child) => child.getBoundingClientRect());
    const edge = (side, pick) => pick(...texts.map((box) => box[side]));
    const own = {
      left: edge("left", Math.min),
      right: edge("right", Math.max),
      top: edge("top", Math.min),
      bottom: edge("bottom", Math.max),
    };
    const [x, y] = middle(own);
    const [freeX, freeY] = middle(it.parentElement.parentElement.getBoundingClientRect());
    return [Math.abs(x - freeX), Math.abs(y - freeY)];
  });
  assert.ok(Math.max(...off) <= 2, `${off} pixels off the middle`);
}

for (const theme of ["light", "dark"])
  await browse(
    async (page) => {
      await signIn(page, list("parts"));
      const none = page.getByRole("heading", { name: "No records in parts yet" });
      await none.waitFor();
      await expectCentred(none);
      await page.getByRole("main").getByRole("button", { name: "Import a file" }).waitFor();
      await expectAccessible(page);

      await page.goto(`${input.address}${list("customers")}?q=nobody+has+this`);
      const nothing = page.getByRole("heading", { name: "No matching records" });
      await nothing.waitFor();
      await expectCentred(nothing);
      await expectAccessible(page);
      await page.getByRole("button", { name: "Clear search and filters" }).click();
      await page.getByText("erp:4").waitFor();

      await page.getByRole("button", { name: "Views", exact: true }).click();
      await page.getByRole("menuitem", { name: "No saved views yet" }).waitFor();
    },
    { theme },
  );
