import { expect, test } from "vitest";
import { checkKey, withSymbols } from "./key";

test("leading and trailing spaces are removed, inner ones are kept", () => {
  expect(checkKey("  erp: 1 ")).toMatchObject({ trimmed: "erp: 1", length: 6, removed: 3, isValid: true });
});

test("only U+0020 is trimmed, and a no-break space is reported", () => {
  expect(checkKey("\u00a0a")).toMatchObject({ trimmed: "\u00a0a", invisible: ["U+00A0"], isValid: true });
});

test("length counts code points", () => {
  expect(checkKey("😀".repeat(255))).toMatchObject({ length: 255, isValid: true });
  expect(checkKey("😀".repeat(256)).isValid).toBe(false);
});

test("empty and blank keys are rejected", () => {
  expect([checkKey("").isValid, checkKey("   ").isValid]).toEqual([false, false]);
});

test("control characters are rejected and listed", () => {
  expect(checkKey("a\u0007\tb\u0085")).toMatchObject({
    controls: ["U+0007", "U+0009", "U+0085"],
    isValid: false,
  });
});

test("invisible characters are shown as symbols", () => {
  expect(withSymbols("a\tb\u007f\u0085\u200bc")).toBe("a␉b␡⟨U+0085⟩⟨U+200B⟩c");
  expect(withSymbols("erp:4711 عربي 😀")).toBe("erp:4711 عربي 😀");
});
