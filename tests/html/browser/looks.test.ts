// Accessibility and appearance: widths, colours, print, screen readers (axe-core).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { axeSource, becomes, eventually, makeComparison, resnet, trained, withPage } from "./browser";

/** Each view, and an element that is present once it is drawn. */
const views: [hash: string, drawn: string][] = [
  ["#modules?at=layer1.0", ".details .cells td"], ["#map", ".map .tile"], ["#graph?at=layer1.0", ".graph .box"],
  ["#operators?operator=3", ".details .cells td"], ["#tensors", ".grid-row"], ["#charts", ".plot canvas >> nth=1"],
  ["#findings", ".finding"], ["#about", ".about"],
];

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, to which the page's policy does not apply.
  if (!await page.evaluate("'axe' in window")) await page.evaluate(axeSource());
  const found = await page.evaluate(() =>
    (window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }).axe.run());
  return found.violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0]!.html.slice(0, 160)}`);
}

const isWider = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

const brightness = (page: Page): Promise<number> => page.evaluate(() => {
  const [r = 0, g = 0, b = 0] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g)!.map(Number);
  return (r + g + b) / 3;
});
const lightens = (page: Page) => eventually(async () => assert.ok(await brightness(page) > 200));
const darkens = (page: Page) => eventually(async () => assert.ok(await brightness(page) < 60));

for (const width of [360, 1280, 2560]) {
  test(`no serious finding of axe-core at ${width} pixels, in light and dark`, () =>
    withPage(resnet(), { viewport: { width, height: 900 } }, async ({ page }) => {
      for (const [hash, drawn] of views) {
        await page.evaluate((to) => { location.hash = to; }, hash);
        await page.locator(`#tab-${/\w+/.exec(hash)![0]}[aria-selected="true"]`).waitFor();
        await page.locator(drawn).first().waitFor();
        await becomes(() => isWider(page), false, `${hash} is not wider than the screen`);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await (colorScheme === "dark" ? darkens(page) : lightens(page));
          assert.deepEqual(await violations(page), [], `${hash} ${colorScheme}`);
        }
      }
    }));
}

/** A large change, a small change, and no change. */
const comparisons: [name: string, before: string, after: string][] = [
  ["other", "models/mobilenet_v2.pt2", "models/mobilenet_v3_large.pt2"], ["pruned", "pruned/before.pt2", "pruned/after.pt2"],
  ["same", "pruned/before.pt2", "pruned/before.pt2"],
];
for (const width of [360, 1280, 2560]) {
  test(`no serious finding of axe-core in a comparison at ${width} pixels, in light and dark`, async () => {
    for (const [name, before, after] of comparisons) {
      const file = makeComparison(`diff-${name}`, before, after);
      await withPage(file, { viewport: { width, height: 900 } }, async ({ page }) => {
        await becomes(() => isWider(page), false, `${name} is not wider than the screen`);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await eventually(async () => assert.equal(await page.evaluate(() =>
            matchMedia("(prefers-color-scheme: dark)").matches), colorScheme === "dark"));
          assert.deepEqual(await violations(page), [], `${name} ${colorScheme}`);
        }
      });
    }
  });
}

test("colours follow the system, and a button turns them around", async () => {
  await withPage(resnet(), { colorScheme: "light" }, async ({ page }) => {
    await lightens(page);
    await page.getByRole("button", { name: /switch between light and dark/ }).click();
    await darkens(page);
  });
  await withPage(resnet(), { colorScheme: "dark" }, ({ page }) => darkens(page));
});

test("print has the cards, the map, the table and the findings, on white, whatever view is open", () =>
  withPage(trained(), { hash: "#charts", colorScheme: "dark" }, async ({ page }) => {
    await page.emulateMedia({ media: "print" });
    await page.locator(".print-sheet").waitFor();
    await eventually(async () => assert.ok(await brightness(page) > 250));
    await page.locator("main").waitFor({ state: "hidden" });
    for (const part of [".card", ".print-sheet .tile", ".print-sheet table tr", ".print-sheet .finding"])
      await page.locator(part).first().waitFor();
    assert.ok((await page.pdf()).length > 20_000);
  }));

test("on a narrow screen the details can be closed", () =>
  withPage(resnet(), { hash: "#modules?at=fc", viewport: { width: 360, height: 740 } }, async ({ page }) => {
    await page.getByRole("button", { name: "close details" }).click();
    await page.locator(".details").waitFor({ state: "detached" });
  }));

test("tabs are walked with the arrows", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByRole("tab", { name: /Modules/ }).focus();
    await page.keyboard.press("ArrowRight");
    await becomes(() => page.getByRole("tab", { name: "Map" }).getAttribute("aria-selected"), "true");
    await becomes(() => page.evaluate(() => document.activeElement?.id), "tab-map");
  }));
