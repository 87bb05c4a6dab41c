// Shared by the browser tests: tmeter's reports opened in Chromium, with every request and every console message recorded.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { after, before } from "node:test";
import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

const environment = (name: string): string => process.env[name] ?? assert.fail(`${name} is not set`);
export const fixtures = environment("FIXTURES");
export const source = environment("SOURCE");
const require = createRequire(join(environment("NODE_MODULES"), "-"));
export const axeSource = (): string => readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const { chromium } = require("playwright-core") as typeof import("playwright-core");

const patience = 120_000;  // milliseconds; a machine that also runs a build draws late

/** Repeats the check until it holds: a page draws after a click, not during it. */
export async function eventually(check: () => void | Promise<void>, most = patience): Promise<void> {
  const end = Date.now() + most;
  for (;;) {
    try {
      return await check();
    } catch (failure) {
      if (Date.now() > end) throw failure;
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** Waits until the value equals `expected`. */
export const becomes = <T>(read: () => T | Promise<T>, expected: NoInfer<T>, what = "what is shown"): Promise<void> =>
  eventually(async () => {
    const found = await read();
    assert.deepEqual(found, expected, `${what}: ${JSON.stringify(found)}`);
  });

/** A file in the test's folder. */
export const path = (name: string): string => join(environment("WORK"), name);

/** Runs tmeter; the report is made once for each name. */
const made = new Map<string, string>();
export function makeReport(name: string, model: string, ...options: string[]): string {
  const file = path(`${name}.html`);
  if (!made.has(name)) {
    execFileSync(environment("TMETER"), [model, ...options, "--report", `html=${file}`], {
      env: { ...process.env, TMETER_PLUGIN_PATH: "", XDG_DATA_HOME: "/nonexistent" }, stdio: ["ignore", "ignore", "inherit"],
    });
    made.set(name, file);
  }
  return file;
}

/** A comparison of two models as a page. */
export function makeComparison(name: string, before: string, after: string): string {
  return makeReport(name, "diff", join(fixtures, before), join(fixtures, after));
}

const plugins = "--plugins=flops,energy,memory,params,activations,architecture";
export const resnet = (): string => makeReport("resnet50", join(fixtures, "models/resnet50.pt2"), plugins);
export const trained = (): string => makeReport("trained", join(fixtures, "trained/model.pt2"), "--plugins=all");

/** The same page with other data in one block, for cases that no available model has. */
export function rewritten<T>(file: string, name: string, block: string, change: (data: T) => void): string {
  const target = path(`${name}.html`);
  const element = new RegExp(`(<script type="application/octet-stream" id="tmeter-${block}">)([^<]*)`);
  const text = readFileSync(file, "utf8").replace(element, (_all, tag: string, data: string) => {
    const value = JSON.parse(inflateRawSync(Buffer.from(data, "base64")).toString()) as T;
    change(value);
    return tag + deflateRawSync(JSON.stringify(value)).toString("base64");
  });
  writeFileSync(target, text);
  return target;
}

let browser: Browser;
before(async () => {
  // Without a sandbox, which containers often lack for root; only files made here are opened.
  browser = await chromium.launch({ executablePath: environment("CHROMIUM"), args: ["--no-sandbox"] });
});
after(() => browser.close());

export interface Opened {
  page: Page;
  /** Requests for anything but the file itself. */
  requests: string[];
  /** Errors and warnings of the console, and exceptions. */
  complaints: string[];
}

const ready = "main.comparison, .sides, .grid-row, .findings, .charts, .about, .map .tile, .graph, .failure";

/** Opens a report, calls `use` with it, and requires that no network request and no error occurred. */
export async function withPage(file: string, options: BrowserContextOptions & { hash?: string },
                               use: (opened: Opened) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const opened: Opened = { page, requests: [], complaints: [] };
  const address = `file://${file}`;
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address && !request.url().startsWith("data:")) opened.requests.push(request.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) opened.complaints.push(message.text());
  });
  page.on("pageerror", (error) => opened.complaints.push(String(error)));
  page.on("dialog", (dialog) => { opened.complaints.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  try {
    await page.goto(address + (options.hash ?? ""));
    await page.locator(ready).first().waitFor();
    await use(opened);
    assert.deepEqual(opened.requests, [], "no request leaves the page");
    assert.deepEqual(opened.complaints, [], "nothing is complained about");
  } finally {
    await context.close();
  }
}

/** Texts of a table column, for the rows on the screen. */
export const column = (page: Page, index: number): Promise<string[]> =>
  page.locator(`.grid-row [role=gridcell]:nth-child(${index})`).allInnerTexts();

/** The same without the tree's prefix of a name. */
export const names = (page: Page): Promise<string[]> => column(page, 1).then((texts) => texts.map((text) => text.trim()));

export const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash);

/** Goes to a tab and waits until it is shown. */
export async function openTab(page: Page, name: string | RegExp): Promise<void> {
  const tab = page.getByRole("tab", { name });
  await tab.click();
  await becomes(() => tab.getAttribute("aria-selected"), "true", String(name));
}

export const rowNamed = (page: Page, name: string) =>
  page.locator(".grid-row").filter({ has: page.getByText(name, { exact: true }) }).first();
