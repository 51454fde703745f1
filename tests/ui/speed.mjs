/**
 * Measures the web application in a real browser, with very many records: `make bench ARGS='--only application'`.
 *
 * Prints all figures as one JSON object; times are in milliseconds. `input.more` is {template, words, openings}.
 */
import { launch, list, input } from "./browser.mjs";

const { template, words, openings } = input.more;
const PATH = input.address + list(template);
/** The first content of the list: the key of a record. */
const FIRST = "[role=gridcell] code";
/** After this many milliseconds from the first list, all requests of the page load are complete. */
const AFTER = 1_500;
const PAUSE = 60;
const ROWS = 5_000;
const ROW = 32;

const rank = (values, part) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
};
const spread = (values) => ({ p50: rank(values, 0.5), p95: rank(values, 0.95), most: Math.max(...values) });

/** Runs a function in a browser with an empty cache, as a signed-in user. */
async function visit(work) {
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript((key) => sessionStorage.setItem("keyed.session", JSON.stringify({ key })), input.key);
    return await work(page);
  } finally {
    await browser.close();
  }
}

/** Records the browser's performance entries from the start, and when the first record is painted. */
function watch(first) {
  const seen = { list: null, lcp: 0, shift: 0, tasks: [] };
  globalThis.seen = seen;
  const note = (type, take) =>
    new PerformanceObserver((entries) => entries.getEntries().forEach(take)).observe({ type, buffered: true });
  note("largest-contentful-paint", ({ startTime }) => {
    seen.lcp = startTime;
  });
  note("layout-shift", ({ value, hadRecentInput }) => {
    if (!hadRecentInput) seen.shift += value;
  });
  note("longtask", ({ startTime, duration }) => seen.tasks.push({ end: startTime + duration, duration }));
  const look = () => {
    if (seen.list !== null || document.querySelector(first) === null) return;
    // The frame after the one in which they are painted.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        seen.list ??= performance.now();
      }),
    );
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true });
}

/** Opens the list with an empty cache. */
const open = () =>
  visit(async (page) => {
    const protocol = await page.context().newCDPSession(page);
    const transferred = { requests: 0, kilobytes: 0, firstKilobytes: 0, searches: 0 };
    await protocol.send("Network.enable");
    // The CPU time of the page's thread, independent of other load on the machine.
    await protocol.send("Performance.enable", { timeDomain: "threadTicks" });
    let isFirst = true;
    protocol.on("Network.requestWillBeSent", ({ request }) => {
      transferred.requests += 1;
      if (isFirst && request.url.endsWith(`/entities/search/${template}`)) transferred.searches += 1;
    });
    protocol.on("Network.loadingFinished", ({ encodedDataLength }) => {
      transferred.kilobytes += encodedDataLength / 1000;
      if (isFirst) transferred.firstKilobytes += encodedDataLength / 1000;
    });
    await page.addInitScript(watch, FIRST);
    await page.goto(PATH, { waitUntil: "commit" });
    await page.waitForFunction(() => globalThis.seen?.list);
    isFirst = false;
    const { metrics } = await protocol.send("Performance.getMetrics");
    await page.waitForTimeout(AFTER);
    const seen = await page.evaluate(() => ({
      ...globalThis.seen,
      fcp: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    }));
    return {
      list: seen.list,
      fcp: seen.fcp,
      lcp: seen.lcp,
      blocking: seen.tasks
        .filter(({ end }) => end > seen.fcp)
        .reduce((sum, { duration }) => sum + Math.max(0, duration - 50), 0),
      shift: seen.shift,
      work: metrics.find(({ name }) => name === "TaskDuration").value * 1000,
      ...transferred,
    };
  });

/** Types words letter by letter. Each letter waits for the results of the previous one. */
const type = () =>
  visit(async (page) => {
    await page.goto(PATH);
    await page.locator(FIRST).first().waitFor();
    await page.waitForTimeout(AFTER);
    await page.evaluate(() => {
      const grid = document.querySelector("[role=grid]");
      document.addEventListener("keydown", () => {
        globalThis.pressed = performance.now();
      }, { capture: true });
      new MutationObserver(() => {
        if (grid.getAttribute("aria-busy") !== "false") return;
        requestAnimationFrame(() => {
          // A message arrives after the frame was painted.
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => {
            globalThis.answered = performance.now();
          };
          port2.postMessage(null);
        });
      }).observe(grid, { attributeFilter: ["aria-busy"] });
    });
    const times = [];
    for (const word of words) {
      await page.getByRole("combobox").focus();
      for (const letter of word) {
        await page.evaluate(() => {
          globalThis.answered = null;
        });
        await page.keyboard.type(letter);
        await page.waitForFunction(() => globalThis.answered, null, { polling: 10 });
        times.push(await page.evaluate(() => globalThis.answered - globalThis.pressed));
        await page.waitForTimeout(PAUSE);
      }
      // Escape would only close the suggestions.
      await page.getByRole("combobox").fill("");
      await page.waitForTimeout(AFTER);
    }
    return times;
  });

/** Scrolls through thousands of records, a few rows per frame. */
const scroll = () =>
  visit(async (page) => {
    await page.goto(PATH);
    await page.locator(FIRST).first().waitFor();
    await page.waitForTimeout(AFTER);
    return page.evaluate(
      async (height) => {
        const grid = document.querySelector("[role=grid]");
        const frames = [];
        let last = performance.now();
        while (grid.scrollTop < height) {
          grid.scrollTop += 120;
          await new Promise(requestAnimationFrame);
          const now = performance.now();
          frames.push(now - last);
          last = now;
        }
        return { frames, elements: document.querySelectorAll("*").length };
      },
      ROWS * ROW,
    );
  });

const opened = [];
for (let time = 0; time < openings; time += 1) opened.push(await open());
const typed = await type();
const { frames, elements } = await scroll();

const of = (name) => spread(opened.map((it) => it[name]));
console.log(
  JSON.stringify({
    ...Object.fromEntries(Object.keys(opened[0]).map((name) => [name, of(name)])),
    letters: typed.length,
    typing: spread(typed),
    frames: spread(frames),
    elements: spread([elements]),
  }),
);
