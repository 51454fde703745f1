import { expect, test } from "vitest";
import type { Template } from "../api/queries";
import { type ApiDocument, isReading, operations } from "./document";
import { exampleOf } from "./example";
import { fillExample, initialValues, requestOf } from "./fill";

const document: ApiDocument = {
  info: { title: "keyed", version: "1" },
  security: [{ key: [] }],
  tags: [{ name: "Second" }, { name: "First" }],
  paths: {
    "/v1/things/{template}": {
      get: {
        operationId: "readThing",
        tags: ["First"],
        parameters: [
          { name: "template", in: "path", required: true },
          { name: "key", in: "query" },
          { $ref: "#/components/parameters/Project" },
        ],
        responses: { 200: { $ref: "#/components/responses/Done" } },
      },
      delete: { operationId: "dropThing", tags: ["Second"], security: [] },
    },
  },
  components: {
    parameters: { Project: { name: "X-Service-Project-Id", in: "header" } },
    responses: { Done: { description: "Done." } },
    schemas: {
      Node: {
        type: "object",
        required: ["next"],
        properties: { next: { $ref: "#/components/schemas/Node" } },
      },
      Choice: { oneOf: [{ type: "null" }, { type: "integer", minimum: 5 }] },
    },
  },
};
const [drop, read] = operations(document);

test("operations follow the order of the tags, with references resolved", () => {
  expect(drop?.id).toBe("dropThing");
  expect(read?.parameters.map(({ name }) => name)).toEqual(["template", "key", "X-Service-Project-Id"]);
  expect(read?.responses).toEqual([["200", { description: "Done." }]]);
});

test("operation with an empty security list needs no key", () => {
  expect([drop?.isOpen, read?.isOpen]).toEqual([true, false]);
});

test("write operations need confirmation", () => {
  expect([drop, read].map((it) => it && isReading(it))).toEqual([false, true]);
});

test("path parameters are percent-encoded", () => {
  if (!read) throw new Error("missing");
  const values = { ...initialValues(read, "shop", "a/b"), "query key": "x&y" };
  const request = requestOf(read, values, null);
  expect(request).toMatchObject({ path: "/v1/things/a%2Fb", project: "shop", query: { key: "x&y" } });
  expect(requestOf(read, {}, null).path).toBe("/v1/things/{template}");
});

test("example of a recursive schema is finite", () => {
  expect(JSON.stringify(exampleOf(document, { $ref: "#/components/schemas/Node" }))).toContain('"next":null');
  expect(exampleOf(document, { $ref: "#/components/schemas/Choice" })).toBe(5);
});

test("example uses the attributes of the template", () => {
  const template = {
    attributes: [
      { slug: "title", type: "string" },
      { slug: "year", type: "number" },
      { slug: "medium", type: "list", options: [{ value: "oil" }], required: true },
    ],
  } as unknown as Template;
  const example = { external_key: "k", attributes: { credit: 1 } };
  expect(fillExample(example, template)).toEqual({
    external_key: "k",
    attributes: { title: "text", year: 80.5, medium: ["oil"] },
  });
  expect(fillExample({ filters: [{ field: "city" }] }, template)).toEqual({
    filters: [{ field: "title", operator: "not-empty" }],
  });
});
