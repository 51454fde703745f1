import { expect, test } from "vitest";
import { csvQuery, forSpreadsheet, PLAIN } from "./spreadsheet";

test("spreadsheet export uses the separators of the locale", () => {
  expect(csvQuery(forSpreadsheet("de-DE"), "Europe/Berlin")).toEqual({
    format: '{"decimal":",","datetime":"YYYY-MM-DD HH:mm:ss","time_zone":"Europe/Berlin"}',
    delimiter: ";",
    bom: "true",
  });
  expect(csvQuery(forSpreadsheet("en-US"), "UTC")).toEqual({
    format: '{"datetime":"YYYY-MM-DD HH:mm:ss","time_zone":"UTC"}',
    bom: "true",
  });
});

test("CSV for programs has only the chosen parameters", () => {
  expect(csvQuery(PLAIN)).toEqual({ format: "csv" });
  expect(csvQuery({ ...PLAIN, delimiter: "\t", decimal: "," })).toEqual({
    format: '{"decimal":","}',
    delimiter: "\t",
  });
});
