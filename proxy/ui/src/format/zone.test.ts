import { expect, test } from "vitest";
import { isZone, readerZone } from "./zone";

test.each(["UTC", "Europe/Zurich", "America/Port-au-Prince", "America/Argentina/Buenos_Aires", "Etc/GMT-14"])(
  "%s is a time zone",
  (name) => expect(isZone(name)).toBe(true),
);

test.each(["", "+05:30", "Europe/", "project/1", "UTC+2"])("%j is not a time zone", (name) =>
  expect(isZone(name)).toBe(false),
);

test("time zone of the user is that of the machine", () => {
  expect(readerZone()).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
});
