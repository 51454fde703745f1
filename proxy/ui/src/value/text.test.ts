import { expect, test } from "vitest";
import { exact } from "../api/json";
import { copiedText, isEmptyValue, linkOf, valueText } from "./text";

const segments = {
  type: "list" as const,
  options: [{ value: "vip", label: "Very important" }, { value: "new" }],
};

test("empty text and empty lists count as no value, false and zero do not", () => {
  expect([null, undefined, "", []].every(isEmptyValue)).toBe(true);
  expect([false, 0, "0", [""]].some(isEmptyValue)).toBe(false);
});

test("list elements show their labels", () => {
  expect(valueText(segments, ["vip", "new", "other"])).toBe("Very important, new, other");
});

test("reference shows the display, key or id of its target", () => {
  const type = { type: "reference" as const };
  expect(valueText(type, "01a2", { value: "01a2", display: "Ada", external_key: "erp:1" })).toBe("Ada");
  expect(valueText(type, "01a2", { value: "01a2", display: null, external_key: "erp:1" })).toBe("erp:1");
  expect(valueText(type, "01a2")).toBe("01a2");
});

test("number is shown in its format and copied as stored", () => {
  const width = { type: "number" as const, format: { unit: "mm", decimals: 1 } };
  expect(valueText(width, exact("1008.55"))).toContain("mm");
  expect(copiedText(width, exact("1008.55"))).toBe("1008.55");
  expect(copiedText({ type: "date" }, "2026-01-31")).toBe("2026-01-31");
  expect(copiedText(segments, ["vip"])).toBe("Very important");
});

test("only web and mail addresses are links", () => {
  const link = { format: { kind: "link" as const } };
  const email = { format: { kind: "email" as const } };
  expect(linkOf(link, " https://example.org/a?b ")).toBe("https://example.org/a?b");
  for (const text of ["javascript:alert(1)", "example.org", "https://a b", "data:text/html,x"])
    expect(linkOf(link, text)).toBeNull();
  expect(linkOf(email, "ada@example.org")).toBe("mailto:ada@example.org");
  for (const text of ["ada", "a@b?cc=c@d", "javascript:a@b"]) expect(linkOf(email, text)).toBeNull();
  expect(linkOf({}, "https://example.org")).toBeNull();
  expect(linkOf({ format: { kind: "multiline" } }, "https://example.org")).toBeNull();
});
