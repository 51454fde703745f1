import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { deliveryCommand } from "./command";

test("quote in the body is escaped in the command", () => {
  expect(deliveryCommand("http://h/t", `{"a":"it's"}`, null)).toContain(`-d '{"a":"it'\\''s"}'`);
});

test("signed command sends a Standard Webhooks signature", () => {
  const bytes = Buffer.from("00ff10a7b2c3d4e5f60718293a4b5c6d7e8f9001", "hex");
  const body = `{"name":"it's"}`;
  const command = deliveryCommand("http://h/t", body, `whsec_${bytes.toString("base64")}`);
  const seen = `curl() { printf '%s\\n' "$@"; }\n${command}`;
  const words = execFileSync("bash", ["-c", seen], { encoding: "utf8" });
  const header = (name: string) => words.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1];
  const signed = `${header("webhook-id")}.${header("webhook-timestamp")}.${body}`;
  const expected = createHmac("sha256", bytes).update(signed).digest("base64");
  expect(header("webhook-signature")).toBe(`v1,${expected}`);
});
