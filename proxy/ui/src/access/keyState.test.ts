import { expect, test } from "vitest";
import { keyId, keyState } from "./keyState";

const now = Date.parse("2026-03-10T12:00:00Z");
const key = { revoked_at: null, expires_at: null, orphaned: false };

test("key is active until it is revoked, expires, or its role is dropped", () => {
  expect(keyState(key, now)).toBe("active");
  expect(keyState({ ...key, expires_at: "2026-03-10T12:00:01Z" }, now)).toBe("active");
  expect(keyState({ ...key, expires_at: "2026-03-10T12:00:00Z" }, now)).toBe("expired");
  expect(keyState({ ...key, orphaned: true }, now)).toBe("orphaned");
});

test("revoked key stays revoked after it expires", () => {
  const both = { ...key, revoked_at: "2026-03-01T00:00:00Z", expires_at: "2026-03-02T00:00:00Z" };
  expect(keyState(both, now)).toBe("revoked");
});

test("key contains its id", () => {
  expect(keyId("keyed_12_abc")).toBe("12");
  expect(keyId("other")).toBeNull();
});
