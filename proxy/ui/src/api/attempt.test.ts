import { expect, test } from "vitest";
import { Attempt } from "./attempt";
import { RequestError, requestError } from "./problem";

/** The names of attempts. `answers` has the outcome of each: an error is thrown. */
function names(attempt: Attempt) {
  const seen: string[] = [];
  const send = (outcome: unknown) =>
    attempt
      .send(async (name) => {
        seen.push(name);
        if (outcome instanceof Error) throw outcome;
        return outcome;
      })
      .catch(() => undefined);
  return { seen, send };
}

const rejection = (status: number, code: string) => requestError(status, { code, detail: code, status });

test.each([
  new RequestError(0, null, "The service cannot be reached."),
  rejection(503, "unavailable"),
  rejection(504, "timeout"),
  rejection(409, "request_in_progress"),
  rejection(422, "invalid_value"),
])("an attempt that failed is sent again under its name: %s", async (failure) => {
  const { seen, send } = names(new Attempt());
  await send(failure);
  await send("written");
  expect(seen[1]).toBe(seen[0]);
});

test("attempt gets a new key after success, after a change, and if its key was used", async () => {
  const attempt = new Attempt();
  const { seen, send } = names(attempt);
  await send("written");
  await send(rejection(503, "unavailable"));
  attempt.renew();
  await send(rejection(422, "idempotency_key_reused"));
  await send("written");
  expect(new Set(seen).size).toBe(4);
});

test("pending attempt is not sent twice", async () => {
  const attempt = new Attempt();
  let end = (_: string) => {};
  const first = attempt.send(() => new Promise<string>((resolve) => (end = resolve)));
  const { seen, send } = names(attempt);
  expect(await send("twice")).toBe(null);
  end("once");
  expect(await first).toBe("once");
  expect(seen).toEqual([]);
});
