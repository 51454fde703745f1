import fc from "fast-check";
import { expect, test } from "vitest";
import { EventReader } from "./eventStream";

const TEXT = [
  "retry: 1200",
  "id: first",
  "",
  "event: update",
  'data: {"name": "Zoë"}',
  "",
  ": comment",
  "id: behind the comment",
  "",
  "event:delete",
  "data: one",
  "data: two",
  "id: last",
  "",
  "event: create",
  "data: cut off",
];

const read = (parts: readonly string[]) => {
  const reader = new EventReader();
  return { events: parts.flatMap((part) => reader.push(part)), reader };
};

test.each(["\n", "\r\n", "\r"])(
  "events do not depend on chunk boundaries, with lines that end in %j",
  (end) => {
    const text = TEXT.join(end);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
        const positions = [0, ...cuts.sort((a, b) => a - b), text.length];
        const parts = positions.slice(1).map((to, at) => text.slice(positions[at], to));
        const { events, reader } = read(parts);
        expect(events).toEqual([
          { type: "update", data: '{"name": "Zoë"}' },
          { type: "delete", data: "one\ntwo" },
        ]);
        expect(reader.id).toBe("last");
        expect(reader.retry).toBe(1200);
      }),
    );
  },
);

test("id is updated when its event is complete", () => {
  const { reader } = read(["id: a\n\n", "data: x\nid: b\n"]);
  expect(reader.id).toBe("a");
  reader.push("\n");
  expect(reader.id).toBe("b");
});

test("event without a type is a message", () => {
  expect(read(["data: x\n\n"]).events).toEqual([{ type: "message", data: "x" }]);
});
