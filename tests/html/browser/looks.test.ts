// For every eye: widths, colours, print, screen readers (axe-core).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { axeSource, resnet, trained, withPage } from "./browser";

const hashes = ["#modules?at=layer1.0", "#map", "#graph?at=layer1.0", "#operators?operator=3", "#tensors", "#charts", "#findings", "#about"];

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  if (!await page.evaluate("'axe' in window")) await page.evaluate(axeSource());
  const found = await page.evaluate(() =>
    (window as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }).axe.run());
  return found.violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0]!.html.slice(0, 160)}`);
}

const isWider = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

for (const width of [360, 1280, 2560]) {
  test(`no serious finding of axe-core at ${width} pixels, in light and dark`, () =>
    withPage(resnet(), { viewport: { width, height: 900 } }, async ({ page }) => {
      for (const hash of hashes) {
        await page.evaluate((to) => { location.hash = to; }, hash);
        await page.locator(`#tab-${/\w+/.exec(hash)![0]}[aria-selected="true"]`).waitFor();
        await page.waitForTimeout(100);  // for charts and graphs, which measure the place they have
        assert.ok(!await isWider(page), `${hash} is not wider than the screen`);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          assert.deepEqual(await violations(page), [], `${hash} ${colorScheme}`);
        }
      }
    }));
}

const brightness = (page: Page): Promise<number> => page.evaluate(() => {
  const [r = 0, g = 0, b = 0] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g)!.map(Number);
  return (r + g + b) / 3;
});

test("colours follow the system, and a button turns them around", async () => {
  await withPage(resnet(), { colorScheme: "light" }, async ({ page }) => {
    assert.ok(await brightness(page) > 200);
    await page.getByRole("button", { name: /switch between light and dark/ }).click();
    assert.ok(await brightness(page) < 60);
  });
  await withPage(resnet(), { colorScheme: "dark" }, async ({ page }) => assert.ok(await brightness(page) < 60));
});

test("print has the cards, the map, the table and the findings, on white, whatever view is open", () =>
  withPage(trained(), { hash: "#charts", colorScheme: "dark" }, async ({ page }) => {
    await page.emulateMedia({ media: "print" });
    await page.locator(".print-sheet").waitFor();
    assert.ok(await brightness(page) > 250);
    assert.equal(await page.locator("main").isVisible(), false);
    for (const part of [".card", ".print-sheet .tile", ".print-sheet table tr", ".print-sheet .finding"])
      assert.ok(await page.locator(part).count() > 0, part);
    assert.ok((await page.pdf()).length > 20_000);
  }));

test("on a narrow screen the details can be closed", () =>
  withPage(resnet(), { hash: "#modules?at=fc", viewport: { width: 360, height: 740 } }, async ({ page }) => {
    await page.getByRole("button", { name: "close details" }).click();
    assert.equal(await page.locator(".details").count(), 0);
  }));

test("tabs are walked with the arrows", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByRole("tab", { name: /Modules/ }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getByRole("tab", { name: "Map" }).getAttribute("aria-selected"), "true");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "tab-map");
  }));
