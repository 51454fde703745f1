import { expect, test } from "vitest";
import { isZone, readerZone } from "./zone";

test.each(["UTC", "Europe/Zurich", "America/Port-au-Prince", "America/Argentina/Buenos_Aires", "Etc/GMT-14"])(
  "%s is a time zone",
  (name) => expect(isZone(name)).toBe(true),
);

test.each(["", "+05:30", "Europe/", "project/1", "UTC+2"])("%j is none", (name) =>
  expect(isZone(name)).toBe(false),
);

test("the reader has the time zone of the machine", () => {
  expect(readerZone()).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
});
