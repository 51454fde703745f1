import { expect, test } from "vitest";
import { matchingValues } from "./existing";

const values = ["oil on canvas", "oil", "gouache", "watercolour on oiled paper", "", "x".repeat(61)];

test("values that begin with the text come before those that contain it", () => {
  expect(matchingValues(values, "OIL", [])).toEqual(["oil on canvas", "oil", "watercolour on oiled paper"]);
});

test("chosen, empty and long values are not suggested", () => {
  expect(matchingValues(values, "", ["oil"])).toEqual([
    "oil on canvas",
    "gouache",
    "watercolour on oiled paper",
  ]);
});
