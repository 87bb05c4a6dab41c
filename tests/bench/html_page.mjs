// How long html reports take to open in a headless Chromium, and how they scroll.
//
//   node html_page.mjs --modules NODE_MODULES [--chromium PROGRAM] [--runs 5] REPORT.html…
//
// For each report the median over the runs: size, first contentful paint (the cards with the totals), the
// first rows of the table, and the processor time the page's main thread took until then; and for 120 frames
// of scrolling 40 rows each, the processor time of a frame. Processor time is what other programs on the
// machine do not change.
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals: reports } = parseArgs({
  allowPositionals: true,
  options: {
    modules: { type: "string" }, chromium: { type: "string", default: "/usr/bin/chromium" }, runs: { type: "string", default: "5" },
  },
});
const { chromium } = createRequire(join(resolve(values.modules), "-"))("playwright-core");

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function threadSeconds(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name) => metrics.find((m) => m.name === name)?.value ?? 0;
  return value("TaskDuration");
}

function scroll(frames) {
  const grid = document.querySelector(".grid");
  let left = frames;
  return new Promise((done) => {
    const step = () => {
      grid.scrollTop += 40 * 30;
      if (--left > 0) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  });
}

const frames = 120;

async function measure(browser, report) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(`file://${resolve(report)}`);
  await page.locator(".grid-row").first().waitFor();
  const opened = await threadSeconds(session);
  const [paint, rows] = await page.evaluate(() => [
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime, performance.now()]);
  await page.getByLabel("Fold repeats").uncheck();
  await page.getByRole("button", { name: "Expand all" }).click();
  const before = await threadSeconds(session);
  await page.evaluate(scroll, frames);
  const frame = (await threadSeconds(session) - before) / frames;
  const count = await page.locator(".grid").getAttribute("aria-rowcount");
  await page.close();
  return { paint, rows, opened: 1000 * opened, frame: 1000 * frame, count: Number(count) - 1 };
}

const browser = await chromium.launch({ executablePath: values.chromium, args: ["--no-sandbox"] });
for (const report of reports) {
  const runs = [];
  for (let i = 0; i < Number(values.runs); ++i) runs.push(await measure(browser, report));
  const of = (key) => median(runs.map((run) => run[key]));
  console.log(JSON.stringify({
    report, bytes: statSync(report).size, first_paint_ms: Math.round(of("paint")), table_ms: Math.round(of("rows")),
    cpu_until_table_ms: Math.round(of("opened")), rows: of("count"), cpu_per_frame_ms: Number(of("frame").toFixed(2)),
  }));
}
await browser.close();
