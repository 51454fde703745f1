import assert from "node:assert/strict";
import { ask, browse, list, signIn } from "../browser.mjs";

/** 1:30 on May 2 in the user's time zone, and still May 1 in UTC, the time zone of the project. */
const SEEN = "2024-05-01T23:30:00Z";
const DAY = [{ field: "seen", operator: "eq", value: "2024-05-02" }];
const views = async () => (await ask("GET", "/templates/customers/views")).views;

await browse(
  async (page) => {
    const anna = page.getByRole("gridcell", { name: "Anna", exact: true });
    const none = page.getByText("No record matches", { exact: false });
    await ask("PUT", "/entities/template/customers/by-key", { external_key: "erp:0", attributes: { seen: SEEN } });
    await ask("POST", "/templates/customers/views", { slug: "utc", label: "In UTC", query: { filters: DAY } });
    await signIn(page, `${list("customers")}?f=seen:eq:2024-05-02&c=name,seen`);
    await anna.waitFor();
    await page.getByText("May 2, 2024, 1:30").first().waitFor();
    await page.getByText("1–1 of 1").waitFor();

    // A view keeps the time zone in which it was saved.
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitem", { name: /^Save this search as view/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").first().fill("Seen");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    const saved = (await views()).find(({ slug }) => slug === "seen");
    assert.equal(saved.query.time_zone, "Europe/Zurich");
    await page.waitForURL(/view=seen/);
    assert.equal(await page.getByText("Unsaved changes").count(), 0);
    await anna.waitFor();

    await page.goto((await page.evaluate(() => location.origin)) + `${list("customers")}?view=utc`);
    await none.waitFor();
    assert.equal(await page.getByText("Unsaved changes").count(), 0);
    await page.goto((await page.evaluate(() => location.origin)) + `${list("customers")}?view=seen`);
    await anna.waitFor();
  },
  { timezoneId: "Europe/Zurich" },
);
