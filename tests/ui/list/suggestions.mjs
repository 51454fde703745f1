import assert from "node:assert/strict";
import { ask, body, browse, expectAccessible, list, signIn, input } from "../browser.mjs";

for (const [external_key, name] of [
  ["erp:5", "Vermeer, Delft"],
  ["erp:6", "Vermeer, Haag"],
  ["erp:7", "Verona"],
])
  await ask("PUT", "/entities/template/customers/by-key", { external_key, attributes: { name } });

const SUGGEST = "**/entities/search/customers/suggest";
const prefix = (request) => request.url().endsWith("/suggest") && body(request).prefix;

for (const [theme, width] of [
  ["light", 1280],
  ["dark", 390],
]) {
  await browse(
    async (page) => {
      const field = page.getByRole("combobox");
      const suggestions = page.getByRole("listbox", { name: "Search suggestions" });
      const vermeer = suggestions.getByRole("option", { name: /^Vermeer\s+2 records$/ });
      const verona = suggestions.getByRole("option", { name: /^Verona\s+1 record$/ });
      // The events of the field and its list, printed after a failure.
      await page.addInitScript(() => {
        const seen = [];
        globalThis.fieldEvents = seen;
        for (const kind of ["focusin", "focusout", "input", "keydown"])
          addEventListener(kind, ({ key, target }) => seen.push([kind, key, target.role, target.value, location.search]), true);
        let last = null;
        const note = () => {
          const list = document.querySelector("[role=listbox]")?.textContent ?? null;
          if (list !== last) seen.push(["list", list, document.querySelector("[role=combobox]")?.value]);
          last = list;
        };
        new MutationObserver(note).observe(document, { childList: true, subtree: true });
      });
      const active = () => field.evaluate((it) => document.getElementById(it.getAttribute("aria-activedescendant"))?.innerText ?? null);
      await signIn(page, list("customers"));
      await page.setViewportSize({ width, height: 800 });
      // Ignores announcements of the sign-in page.
      await page.goto(input.address + list("customers"));
      await page.getByText("erp:7").waitFor();

      await field.focus();
      await page.keyboard.type("ver");
      await vermeer.waitFor();
      await verona.waitFor();
      assert.equal(await field.getAttribute("aria-expanded"), "true");
      assert.equal(await active(), null, "Enter takes nothing by default");
      await expectAccessible(page);
      await page.keyboard.press("ArrowDown");
      assert.match(await active(), /^Vermeer/);
      await page.keyboard.press("ArrowDown");
      assert.match(await active(), /^Verona/);
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      await suggestions.waitFor({ state: "detached" });
      assert.equal(await field.inputValue(), "Vermeer");
      assert.equal(await field.getAttribute("aria-expanded"), "false");
      await page.waitForURL(/[?&]q=Vermeer(&|$)/);
      await page.getByText("erp:7").waitFor({ state: "detached" });

      // Only the last word is completed, from records that contain the other words.
      await page.keyboard.type(" del");
      await suggestions.getByRole("option", { name: /^Delft\s+1 record$/ }).click();
      assert.equal(await field.inputValue(), "Vermeer Delft");
      assert.ok(await field.evaluate((it) => it === document.activeElement), "the field keeps the focus");

      // Esc closes the list, then moves to the records. The search stays.
      await field.fill("ver");
      await vermeer.waitFor();
      await page.keyboard.press("Escape");
      await suggestions.waitFor({ state: "detached" });
      assert.equal(await field.inputValue(), "ver", await page.evaluate(() => JSON.stringify(globalThis.fieldEvents.slice(-40))));
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => document.activeElement?.closest("[role=grid]"));
      assert.equal(await field.inputValue(), "ver");

      // The records come after the last suggestion.
      await field.fill("veron");
      await verona.waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await suggestions.waitFor({ state: "detached" });
      await page.waitForFunction(() => document.activeElement?.closest("[role=grid]"));
    },
    { theme },
  );
}

// Further typing dismisses the suggestions, and Enter ignores them.
await browse(async (page) => {
  await signIn(page, list("customers"));
  await page.getByText("erp:7").waitFor();
  await page.route(SUGGEST, (route) => (prefix(route.request()) === "ver" ? undefined : route.continue()));
  const asked = page.waitForRequest((request) => prefix(request) === "ver");
  const ended = page.waitForEvent("requestfailed", (request) => prefix(request) === "ver");
  await page.getByRole("combobox").focus();
  await page.keyboard.type("ver");
  await asked;
  await page.keyboard.type("o");
  assert.match((await ended).failure().errorText, /ABORTED/);
  await page.getByRole("option", { name: /^Verona/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("listbox").waitFor({ state: "detached" });
  assert.equal(await page.getByRole("combobox").inputValue(), "vero");
});

// Rejected suggestion requests do not affect the search.
await browse(
  async (page) => {
    await signIn(page, list("customers"));
    await page.getByText("erp:4").waitFor();
    await page.route(SUGGEST, (route) => route.fulfill({ status: 500, contentType: "application/json", body: "{}" }));
    const refused = page.waitForResponse(SUGGEST);
    await page.getByRole("combobox").fill("ver");
    await refused;
    await page.getByText("erp:4").waitFor({ state: "detached" });
    await page.getByText("erp:7").waitFor();
    assert.equal(await page.getByRole("listbox").count() + (await page.getByRole("alert").count()), 0);
  },
  { expected: /500/ },
);
