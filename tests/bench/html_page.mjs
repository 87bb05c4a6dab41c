// The time that html reports take to open and to scroll in a headless Chromium.
//
//   node html_page.mjs --modules NODE_MODULES [--chromium PROGRAM] [--runs 5] [--view operators] REPORT.html…
//
// For each report the median over the runs: size, first contentful paint (the cards with the totals), the
// first rows of the table, and the processor time the page's main thread took until then; and, with all rows of the
// table opened, the processor time of a frame while it is scrolled by 4 rows a frame (a fast wheel) and by 40 (the
// scroll bar: no row stays on the screen), 120 frames each. Other programs on the machine affect processor time
// least.
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals: reports } = parseArgs({
  allowPositionals: true,
  options: {
    modules: { type: "string" }, chromium: { type: "string", default: "/usr/bin/chromium" }, runs: { type: "string", default: "5" },
    view: { type: "string", default: "modules" },
  },
});
const { chromium } = createRequire(join(resolve(values.modules), "-"))("playwright-core");

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function threadSeconds(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name) => metrics.find((m) => m.name === name)?.value ?? 0;
  return value("TaskDuration");
}

function scroll([frames, rows]) {
  const grid = document.querySelector(".grid");
  let left = frames;
  return new Promise((done) => {
    const step = () => {
      grid.scrollTop += rows * 30;
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
  await page.goto(`file://${resolve(report)}#${values.view}`);
  await page.locator(".grid-row").first().waitFor();
  const opened = await threadSeconds(session);
  const [paint, rows] = await page.evaluate(() => [
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime, performance.now()]);
  if (values.view === "modules") {
    await page.getByLabel("Fold repeats").uncheck();
    await page.getByRole("button", { name: "Expand all" }).click();
  }
  await page.locator('.grid[aria-rowcount]').waitFor();
  const frameOf = async (rows) => {
    const before = await threadSeconds(session);
    await page.evaluate(scroll, [frames, rows]);
    return 1000 * (await threadSeconds(session) - before) / frames;
  };
  const wheel = await frameOf(4), bar = await frameOf(40);
  const count = await page.locator(".grid").getAttribute("aria-rowcount");
  await page.close();
  return { paint, rows, opened: 1000 * opened, wheel, bar, count: Number(count) - 1 };
}

const browser = await chromium.launch({ executablePath: values.chromium, args: ["--no-sandbox"] });
for (const report of reports) {
  const runs = [];
  for (let i = 0; i < Number(values.runs); ++i) runs.push(await measure(browser, report));
  const of = (key) => median(runs.map((run) => run[key]));
  console.log(JSON.stringify({
    report, bytes: statSync(report).size, first_paint_ms: Math.round(of("paint")), table_ms: Math.round(of("rows")),
    cpu_until_table_ms: Math.round(of("opened")), rows: of("count"),
    cpu_per_frame_wheel_ms: Number(of("wheel").toFixed(2)), cpu_per_frame_bar_ms: Number(of("bar").toFixed(2)),
  }));
}
await browser.close();
