import { expect, test } from "vitest";
import { continuing } from "./existing";

const values = ["oil on canvas", "oil", "gouache", "watercolour on oiled paper", "", "x".repeat(61)];

test("values that begin so come before those that contain it", () => {
  expect(continuing(values, "OIL", [])).toEqual(["oil on canvas", "oil", "watercolour on oiled paper"]);
});

test("values that are there, empty ones and long ones are left out", () => {
  expect(continuing(values, "", ["oil"])).toEqual(["oil on canvas", "gouache", "watercolour on oiled paper"]);
});
