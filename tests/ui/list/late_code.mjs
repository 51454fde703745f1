import { body, browse, list, signIn } from "../browser.mjs";

const gate = () => {
  let open;
  const passed = new Promise((resolve) => {
    open = resolve;
  });
  return { open, passed };
};

await browse(async (page) => {
  // The form is opened before its code has loaded, and the list renders again while the form is filled in.
  const code = gate();
  await page.route(/\/ConditionEditor-.*\.js$/, async (route) => {
    await code.passed;
    await route.continue();
  });
  const counted = gate();
  await page.route(/\/entities\/search\/customers$/, async (route) => {
    if (body(route.request()).count === "exact") await counted.passed;
    await route.continue();
  });
  await signIn(page, list("customers"));
  await page.getByText("Anna").first().waitFor();
  await page.keyboard.press("f");
  await page.getByRole("dialog", { name: "Add a filter" }).waitFor();
  code.open();
  await page.getByPlaceholder("Search attributes").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("active");
  await page.keyboard.press("Enter");
  const yes = page.getByRole("radio", { name: "Yes" }).and(page.locator(":focus"));
  await yes.waitFor({ state: "attached" });
  counted.open();
  await page.getByRole("heading", { name: "Our customers" }).locator("..").getByText("5 records").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Beat").first().waitFor({ state: "detached" });
});
