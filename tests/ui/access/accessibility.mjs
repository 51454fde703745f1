import { ask, browse, expectAccessible, input, list, quiet, signIn } from "../browser.mjs";

const { id } = await ask("GET", "/entities/template/customers/by-key?key=erp:0");

const PAGES = [
  [list("customers"), "Anna"],
  [`${list("customers")}?deleted=yes`, "No deleted records"],
  [`${list("customers")}/r/${id}`, "Details"],
  [`${list("customers")}/definition`, "visits"],
  [`${list("customers")}/import`, "Import into"],
  [`/p/${input.project}/new-template`, "New template"],
  [`/p/${input.project}/files`, "Export"],
  [`/p/${input.project}/inbound`, "Inbound"],
  [`/p/${input.project}/webhooks`, "Webhooks"],
  [`/p/${input.project}/webhooks/new-endpoint`, "New webhook endpoint"],
  [`/p/${input.project}/access`, "API keys"],
  [`/p/${input.project}/operations`, "Operations"],
  ["/docs", "The first request"],
];

for (const theme of ["light", "dark"]) {
  await browse(
    async (page) => {
      await signIn(page, list("customers"));
      for (const [path, text] of PAGES) {
        await page.goto(input.address + path);
        await page.getByText(text).first().waitFor();
        await quiet(page);
        await expectAccessible(page);
      }
    },
    { theme },
  );
}
