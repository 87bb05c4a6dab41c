// Fit to the screen: on a phone the table is on the first screen, its names are readable, nothing covers it. (shows.test.ts: nothing is cut.)
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, eventually, fixtures, makeReport, openTab, resnet, withPage } from "./browser";

const language = (): string => makeReport("fit-language", join(fixtures, "models/llama_like.pt2"), "--plugins=flops,energy,memory,params,activations");

const phone = { viewport: { width: 390, height: 844 } };
const top = (page: Page, what: string): Promise<number> => page.locator(what).first().evaluate((e) => e.getBoundingClientRect().top);

test("on a phone the table begins on the first screen, and the totals unfold", () =>
  withPage(resnet(), phone, async ({ page }) => {
    assert.ok(await top(page, ".grid") < 844 * 0.6, `the table begins at ${await top(page, ".grid")}`);
    const fold = page.locator("details.totals > summary");
    assert.match(await fold.innerText(), /4\.09 G MACs/);
    assert.equal(await page.locator(".card").first().isVisible(), false);
    await fold.click();
    await page.locator(".card").filter({ hasText: "MACs" }).first().waitFor();
  }));

test("on a wide screen the totals are not folded", () =>
  withPage(resnet(), { viewport: { width: 1400, height: 844 } }, async ({ page }) => {
    await page.locator(".card").first().waitFor();
    assert.equal(await page.locator("details.totals").count(), 0);
  }));

/** For each row: pixels for the name, and the width of twelve of its characters. Runs in the page. */
function roomForNames(): [room: number, twelve: number][] {
  const context = document.createElement("canvas").getContext("2d")!;
  return [...document.querySelectorAll<HTMLElement>(".grid-row > .cell:first-child")].map((cell) => {
    const name = cell.querySelector<HTMLElement>(".name")!;
    context.font = getComputedStyle(name).font;
    const right = cell.getBoundingClientRect().right - parseFloat(getComputedStyle(cell).paddingRight);
    return [right - name.getBoundingClientRect().left, context.measureText("self_attn_01").width];
  });
}

test("on a phone names keep twelve characters on every level", () =>
  withPage(language(), phone, async ({ page }) => {
    await page.getByRole("button", { name: "Expand all" }).click();
    await eventually(async () => {
      const rows = await page.evaluate(roomForNames);
      assert.ok(rows.length > 5);
      for (const [room, twelve] of rows) assert.ok(room >= twelve, `${room} for ${twelve}`);
    }, 5_000);
  }));

test("on a phone the details are below the table, both on the screen", () =>
  withPage(resnet(), { ...phone, hash: "#modules?at=layer3.0.conv2" }, async ({ page }) => {
    await page.locator(".details").waitFor();
    const box = (what: string) => page.locator(what).first().evaluate((e) => {
      const { top, bottom } = e.getBoundingClientRect();
      return { top, bottom };
    });
    await eventually(async () => {
      const table = await box(".grid"), details = await box(".details"), selected = await box('.grid-row[aria-selected="true"]');
      assert.ok(details.top >= table.bottom, "the table is not covered");
      assert.ok(table.top >= -1 && details.bottom <= 845, JSON.stringify({ table, details }));
      assert.ok(selected.top >= table.top && selected.bottom <= table.bottom, "the row is seen");
    }, 5_000);
  }));

test("the first stop of the keyboard leads past totals and tabs to the table", () =>
  withPage(resnet(), { hash: "#modules?metric=params" }, async ({ page }) => {
    await page.keyboard.press("Tab");
    await becomes(() => page.evaluate(() => (document.activeElement as HTMLElement).innerText), "Skip to the table");
    await page.keyboard.press("Enter");
    await becomes(() => page.evaluate(() => document.activeElement?.className), "grid");
    assert.equal(await page.evaluate(() => location.hash), "#modules?metric=params");
  }));

test("a slash moves to the search of the view, or of the modules if the view has no search", () =>
  withPage(resnet(), {}, async ({ page }) => {
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await openTab(page, /Operators/);
    await page.locator(".grid-row").first().waitFor();
    await page.keyboard.press("/");
    await becomes(focused, "Search operators, modules, source");
    await page.keyboard.type("a/b");
    await becomes(() => page.getByLabel("Search operators, modules, source").inputValue(), "a/b");
    await openTab(page, "Charts");
    await page.keyboard.press("/");
    await becomes(focused, "Search modules and types");
  }));
