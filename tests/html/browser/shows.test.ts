// Reports of every kind, from a language model to weights alone, on a phone, a laptop and a large screen, light and dark: nothing
// is cut, no chart is empty, axe-core finds nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { axeSource, becomes, eventually, fixtures, makeComparison, makeReport, path, source, withPage } from "./browser";

const fixture = (name: string, ...options: string[]) => (key: string): string => makeReport(key, join(fixtures, name), ...options);
const full = ["--full", "--hardware", "nvidia-a100"];

function manyOperators(key: string): string {
  const file = path("100000.pt2");
  execFileSync("python3", [join(source, "tests/bench/make_large.py"), "100000", file], { stdio: ["ignore", "ignore", "inherit"] });
  return makeReport(key, file);
}

function merged(key: string): string {
  const parts = [1, 2].map((part) => {
    const file = path(`part-${part}.json`);
    makeReport(`part-${part}`, join(fixtures, `checkpoints/model-0000${part}-of-00002.safetensors`), "--report", `json=${file}`);
    return file;
  });
  return makeReport(key, "merge", ...parts);
}

const reports: Record<string, (key: string) => string> = {
  "language-model": fixture("models/llama_like.pt2", ...full),
  "vision-transformer": fixture("models/vit_b_16.pt2", ...full),
  unet: fixture("unet/unet.pt2", ...full),
  detection: fixture("models/detr_like.pt2", ...full),
  lstm: fixture("models/lstm.pt2", ...full),
  "100000-operators": manyOperators,
  weights: fixture("trained/model.safetensors", "--full"),
  run: fixture("trained/model.pt2", "--full", "--inference", "--run-for", "2s"),
  diff: (key) => makeComparison(key, "models/mobilenet_v2.pt2", "models/mobilenet_v3_large.pt2"),
  "pruned-diff": (key) => makeComparison(key, "pruned/before.pt2", "pruned/after.pt2"),
  "same-diff": (key) => makeComparison(key, "pruned/before.pt2", "pruned/before.pt2"),
  merged,
};

/** Each view with a selection, so that its details are shown as well. */
const views = ["#modules", "#modules?at=", "#map", "#graph", "#operators?operator=0", "#tensors?tensor=%230", "#charts", "#findings", "#about"];
const widths = [390, 1400, 2560];

/**
 * Elements whose content is wider than they are. Allowed are scrolling elements, and names (never values) that end in an ellipsis
 * and have their whole text in a title or tip. Runs in the page.
 */
function clipped(): string[] {
  const found: string[] = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push(`the page: ${document.documentElement.scrollWidth} in ${innerWidth}`);
  for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
    if (element.clientWidth === 0 || element.scrollWidth <= element.clientWidth + 1) continue;
    if (element.closest("svg, .print-sheet, .u-wrap, .map, .strip")) continue;
    const { overflowX, textOverflow, display } = getComputedStyle(element);
    const scrolls = overflowX === "auto" || overflowX === "scroll";
    if (display === "inline" || (scrolls && !element.matches(".wide"))) continue;  // all of a comparison is in sight
    const isCut = [element, ...element.querySelectorAll<HTMLElement>("*")].some((each) => getComputedStyle(each).textOverflow === "ellipsis");
    if (isCut && element.matches(".cell") && element.querySelector("[title], [data-tip]") && !element.querySelector(".metric-value")) continue;
    if (textOverflow === "ellipsis" && element.closest("[title], [data-tip]") && !element.closest(".metric-value, .card")) continue;
    found.push(`${element.tagName}.${element.className}: ${element.scrollWidth} in ${element.clientWidth}, ${element.innerText.slice(0, 60)}`);
  }
  // Text at the right end of a cell is cut at its left, which does not count as scrolled.
  for (const number of document.body.querySelectorAll<HTMLElement>(".cell .number")) {
    const cut = number.closest(".cell")!.getBoundingClientRect().left - number.getBoundingClientRect().left;
    if (cut > 0) found.push(`${number.innerText}: ${cut} pixels of it`);
  }
  return found;
}

/** Charts in which nothing is drawn: no pixel has the colour of a curve, no bar exists. Runs in the page. */
function empty(): string[] {
  const rgb = (color: string) => (color.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  const found: string[] = [];
  for (const plot of document.querySelectorAll<HTMLElement>(".plot")) {
    const canvas = plot.querySelector("canvas"), copy = document.createElement("canvas");
    if (canvas) [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d", { willReadFrequently: true })!;
    if (canvas) context.drawImage(canvas, 0, 0);
    const curves = [...plot.querySelectorAll(plot.matches(".many") ? ".u-marker" : ".u-series:not(:first-child) .u-marker")].map((each) => rgb(getComputedStyle(each).borderTopColor));
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let drawn = 0;
    for (let i = 0; i < data.length && drawn < 5; i += 4)
      if (data[i + 3]! > 128 && curves.some((curve) => curve.every((v, k) => Math.abs(v - data[i + k]!) < 24))) ++drawn;
    if (drawn < 5) found.push(`${plot.getAttribute("aria-label")}: ${curves.length} curves`);
  }
  const says = (card: HTMLElement) => card.querySelector<HTMLElement>(".value")?.innerText.trim() ?? "";
  for (const card of document.querySelectorAll<HTMLElement>(".plugin-cards .card")) if (/^0(\s|$)/.test(says(card)) || /^fits \d/.test(card.innerText)) found.push(`a card that says nothing: ${card.innerText}`);
  for (const [what, inside] of [["histogram", "path[d^=M]"], ["bars", "li"], ["map", ".tile"], ["graph-box", ".box"], ["chart", ".plot, .bars"]])
    for (const chart of document.querySelectorAll(`.${what}`)) if (!chart.querySelector(inside!)) found.push(`${what} without ${inside}`);
  return found;
}

interface Violation {
  id: string;
  nodes: { html: string }[];
}

interface Axe {
  run: (context: { exclude: string[] }, options: object) => Promise<{ violations: Violation[] }>;
}

/** The violations that axe-core finds by these rules, by default by its default rules. `exclude`: elements already checked. */
async function violations(page: Page, exclude: string[], rules?: string[]): Promise<string[]> {
  // Evaluated by the debugger, to which the page's policy does not apply.
  if (!await page.evaluate("'axe' in window")) await page.evaluate(axeSource());
  const found = await page.evaluate(([seen, values]) => (window as unknown as { axe: Axe }).axe
    .run({ exclude: seen }, { resultTypes: ["violations"], ...(values ? { runOnly: { type: "rule", values } } : {}) }), [exclude, rules] as const);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0]!.html.slice(0, 200)}`);
}

const settles = (check: () => Promise<string[]>, what: string) => eventually(async () => assert.deepEqual(await check(), [], what), 60_000);

/** Shows a view, with everything in it unfolded; false: this report has no such view. */
async function show(page: Page, hash: string): Promise<boolean> {
  const name = /\w+/.exec(hash)![0], tab = page.locator(`#tab-${name}`);
  if (await tab.count() === 0) return false;
  await page.evaluate((to) => { location.hash = to; }, hash);
  await becomes(() => tab.getAttribute("aria-selected"), "true", hash);
  await becomes(() => page.locator(".details").count(), Number(hash.includes("?")), "details");
  await page.locator("#view [role=status]").waitFor({ state: "detached" });
  await page.locator(name === "charts" ? ".charts > *" : "#view > *").first().waitFor();
  await page.evaluate(() => document.querySelectorAll<HTMLDetailsElement>("details:not(.menu)").forEach((each) => { each.open = true; }));
  const more = page.locator('.card.more[aria-expanded="false"]');
  if (await more.count() > 0) await more.click();
  return true;
}

async function inspect(page: Page, view: string, exclude: string[] = []): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const where = `${view} at ${width} pixels, ${colorScheme}`;
      // Both themes have the same elements at the same places, so only the colours are left to check.
      if (colorScheme === "light") await settles(() => page.evaluate(clipped), `${where}: something is cut`);
      await settles(() => page.evaluate(empty), `${where}: something is empty`);
      assert.deepEqual(await violations(page, exclude, colorScheme === "dark" ? ["color-contrast"] : undefined), [], where);
    }
  }
}

// A build without LibTorch runs no model.
if (!existsSync(join(process.env["TMETER"]!, "../../lib/tmeter/plugins/torch-backend.tmeter"))) delete reports["run"];

describe("reports", { concurrency: 2 }, () => {
  for (const [name, make] of Object.entries(reports))
    test(`nothing of the report ${name} is cut or empty, and axe-core finds nothing`, () =>
      withPage(make(`show-${name}`), { viewport: { width: 1400, height: 900 } }, async ({ page }) => {
        if (await page.locator("#view").count() === 0) return inspect(page, "the page");
        for (const hash of views) if (await show(page, hash)) await inspect(page, hash, hash === views[0] ? [] : [".cards-box"]);
      }));
});
