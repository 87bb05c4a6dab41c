// The picture of README.md and docs/reports/html.md: the first screen of an html report.
//
//   node screenshots.mjs --modules NODE_MODULES --tmeter TMETER --model RESNET50.pt2
//
// Written to docs/images; needs Chromium.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: {
  modules: { type: "string" }, tmeter: { type: "string" }, model: { type: "string" },
  chromium: { type: "string", default: "/usr/bin/chromium" },
} });
const { chromium } = createRequire(join(resolve(values.modules), "-"))("playwright-core");
const images = resolve(dirname(fileURLToPath(import.meta.url)), "../../docs/images");
const report = join(mkdtempSync(join(tmpdir(), "screenshots-")), "report.html");
const mostBytes = 150_000;

mkdirSync(images, { recursive: true });
execFileSync(values.tmeter, [values.model, "--plugins=params,flops,memory,energy,architecture", "--report", `html=${report}`]);
const browser = await chromium.launch({ executablePath: values.chromium, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 720 }, colorScheme: "light" });
await page.goto(`file://${report}`);
await page.locator(".grid-row").first().waitFor();
const picture = join(images, "html.png");
await page.screenshot({ path: picture });
await browser.close();
const { size } = statSync(picture);
if (size > mostBytes) throw new Error(`${picture} has ${size} bytes, more than ${mostBytes}`);
console.log(`${picture} ${size}`);
