/** The browser of the tests, and shared helpers. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

/** The input from the Rust test: {address, key, project, more, screenshot}. */
export const input = JSON.parse(readFileSync(0, "utf8"));

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Disables network requests of the browser itself. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long a condition may take: far longer than any needs, so that no test fails on a slow machine. */
const PATIENCE = 60_000;

/** A browser without a cache. */
export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });

/**
 * Runs a test on a new page. It fails if the page reports an error, logs one, or loads anything from another origin.
 * @param {(page: import("playwright-core").Page) => Promise<void>} test
 * @param {{width?: number, height?: number, theme?: "light" | "dark", timezoneId?: string, expected?: RegExp}} options
 *   `timezoneId`: of the user. `expected`: console errors that belong to the test, such as rejected requests.
 */
export async function browse(test, { width = 1280, height = 800, theme = "light", timezoneId, expected } = {}) {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme, timezoneId });
  page.setDefaultTimeout(PATIENCE);
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !expected?.test(message.text())) faults.push(message.text());
  });
  watch(page);
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(input.address) && !/^(data|blob):/.test(url)) faults.push(`asked ${url}`);
  });
  try {
    await test(page);
    assert.deepEqual(faults, []);
  } catch (error) {
    await page.screenshot({ path: input.screenshot }).catch(() => {});
    console.error(`The page as it was: ${input.screenshot}\nIts faults: ${faults.join("\n")}`);
    throw error;
  } finally {
    await browser.close();
  }
}

/** The requests of a page in flight, except the change feed, which does not end. */
const underWay = new WeakMap();

function watch(page) {
  const requests = new Set();
  underWay.set(page, requests);
  page.on("request", (request) => request.url().includes("/v1/changes") || requests.add(request));
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => requests.delete(request));
}

/** Waits until the page of `browse` has sent no request for half a second. */
export async function quiet(page) {
  for (let checks = 0; checks < 5; checks += 1) {
    await page.waitForTimeout(100);
    if (underWay.get(page).size > 0) checks = -1;
  }
}

/** Signs in with the form and opens an address. */
export async function signIn(page, path = "/", key = input.key) {
  await page.goto(input.address + path);
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").first().waitFor();
}

/** Sends a request as another user, an administrator. @returns {Promise<any>} the body */
export async function ask(method, path, body, headers = {}, key = input.key) {
  const response = await fetch(`${input.address}/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      "x-service-project-id": input.project,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** Another user, with the key of `more.other`. */
export const colleague = () => ({
  key: input.more.other,
  ask: (method, path, body) => ask(method, path, body, {}, input.more.other),
});

/** Imports customers with the keys `n:0`, `n:1`, … */
export async function importMany(count) {
  const lines = Array.from({ length: count }, (_, row) =>
    JSON.stringify({ external_key: `n:${row}`, attributes: { name: `Person ${row}`, visits: 1000 + row } }),
  );
  const response = await fetch(`${input.address}/v1/entities/template/customers/import`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${input.key}`,
      "x-service-project-id": input.project,
      "content-type": "application/x-ndjson",
    },
    body: lines.join("\n"),
  });
  assert.ok(response.ok, await response.text());
}

/**
 * The JSON of a request's body; {} if the browser does not report it. It reports the bodies of application requests,
 * which are copies with the key, only if a route intercepts them.
 * @param {import("playwright-core").Request} request
 */
export const body = (request) => request.postDataJSON() ?? {};

export const list = (template) => `/p/${input.project}/t/${template}`;

/** The images without a name in the browser's accessibility tree. */
async function namelessImages(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const nameless = nodes.filter(
    ({ ignored, role, name }) => !ignored && /^(img|image)$/i.test(role?.value ?? "") && !name?.value,
  );
  const described = nameless.map(async ({ backendDOMNodeId }) => {
    const { node } = await session.send("DOM.describeNode", { backendNodeId: backendDOMNodeId });
    return `${node.localName} ${node.attributes?.join(" ")}`;
  });
  const found = await Promise.all(described);
  await session.detach();
  return found;
}

/** Fails on serious or critical axe-core findings in the current page, and on images without a name. */
export async function expectAccessible(page) {
  assert.deepEqual(await namelessImages(page), [], page.url());
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const found = serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join("\n   ")}`);
  assert.deepEqual(found, [], page.url());
}
