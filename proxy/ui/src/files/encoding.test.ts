import { expect, test } from "vitest";
import { delimiterOf, encodingOf, withoutSepLine } from "./encoding";

const bytes = (...values: number[]) => new Uint8Array(values);

test("byte order mark determines the encoding", () => {
  expect(encodingOf(bytes(0xef, 0xbb, 0xbf, 0x61))).toBe("utf-8");
  expect(encodingOf(bytes(0xff, 0xfe, 0x61, 0))).toBe("utf-16le");
  expect(encodingOf(bytes(0xfe, 0xff, 0, 0x61))).toBe("utf-16be");
});

test("without a byte order mark, the first non-ASCII character determines the encoding", () => {
  expect(encodingOf(new TextEncoder().encode("name;Zürich"))).toBe("utf-8");
  expect(encodingOf(bytes(0x5a, 0xfc, 0x72, 0x69))).toBe("windows-1252");
  expect(encodingOf(bytes(0x61, 0, 0x62, 0))).toBe("utf-16le");
  expect(encodingOf(new TextEncoder().encode("only ASCII"))).toBeNull();
});

test("delimiter is detected in the header", () => {
  expect(delimiterOf("a,b,c\n1;2;3;4;5")).toBe(",");
  expect(delimiterOf('a;b\n"1,5";2')).toBe(";");
  expect(delimiterOf("a\tb\r\n1\t2")).toBe("\t");
  expect(delimiterOf('"x,y,z"|b\n')).toBe("|");
  expect(delimiterOf('"a\nb,c";d')).toBe(";");
  expect(delimiterOf("alone")).toBe(",");
});

test("sep line specifies the delimiter and is not the header", () => {
  expect(delimiterOf("sep=;\r\na,b,c;d")).toBe(";");
  expect(withoutSepLine("sep=;\r\na,b,c;d")).toBe("\r\na,b,c;d");
  expect(delimiterOf("SEP=|\na,b")).toBe("|");
  expect(delimiterOf("sep=;x\n")).toBe(";");
  expect(withoutSepLine("sep=;x\n")).toBe("sep=;x\n");
});
