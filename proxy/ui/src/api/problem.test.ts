import { expect, test } from "vitest";
import { asSentence, requestError, sentence } from "./problem";

test("message gets a capital and a full stop", () => {
  expect(asSentence("must be a number")).toBe("Must be a number.");
  expect(asSentence("external_key must not be empty")).toBe("The external key must not be empty.");
  expect(asSentence("the key is empty")).toBe("The key is empty.");
  expect(asSentence('"x" is not one of the options')).toBe('"x" is not one of the options.');
  expect(asSentence("Already one.")).toBe("Already one.");
  expect(asSentence("")).toBe("");
});

test("names keep their case", () => {
  expect(asSentence("crm.customers has live records")).toBe("crm.customers has live records.");
  expect(asSentence("keyed is not set up in this database")).toBe("keyed is not set up in this database.");
  expect(asSentence("query_vector is missing")).toBe("query_vector is missing.");
});

test("leading pointer becomes the name of its field", () => {
  expect(asSentence("/attributes/tags/0: must be a string (the first of 2 errors)")).toBe(
    "tags: must be a string (the first of 2 errors).",
  );
  expect(asSentence("/attributes/credit: must be a number")).toBe("credit: must be a number.");
});

test("SQL statement to copy gets no full stop", () => {
  for (const text of [
    "Run: SELECT keyed.migrate()",
    "Ask an administrator for a key: SELECT keyed.issue_api_key(role, projects, label)",
    "Try again later, or find the transaction: SELECT pid FROM pg_stat_activity ORDER BY xact_start",
  ])
    expect(asSentence(text)).toBe(text);
});

test("hint follows its error", () => {
  const rejected = requestError(422, {
    code: "invalid_value",
    detail: "/attributes/credit: must be a number (the first of 2 errors)",
    hint: "write digits with a point before decimals",
    errors: [
      { pointer: "/attributes/credit", code: "invalid_value", detail: "must be a number" },
      { pointer: "/attributes/born", code: "invalid_value", detail: "must be a date" },
    ],
  });
  expect(rejected.at("/attributes/credit")).toBe(
    "Must be a number. Write digits with a point before decimals.",
  );
  expect(rejected.at("/attributes/born")).toBe("Must be a date.");
  expect(sentence(rejected)).toBe(
    "credit: must be a number (the first of 2 errors). Write digits with a point before decimals.",
  );
});
