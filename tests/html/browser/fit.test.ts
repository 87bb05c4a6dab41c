// What fits: nothing is clipped, and on a phone the table is on the first screen, its names are readable, nothing covers it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, eventually, fixtures, makeReport, openTab, resnet, trained, withPage } from "./browser";

const roofline = (): string => makeReport("fit-roofline", join(fixtures, "models/resnet50.pt2"),
  "--plugins=flops,energy,memory,params,roofline", "--hardware", "nvidia-a100");
const language = (): string => makeReport("fit-language", join(fixtures, "models/llama_like.pt2"), "--plugins=flops,energy,memory,params,activations");

/**
 * Elements whose content is wider than they are. Meant to be so: what scrolls, and a name that ends in an ellipsis and has its
 * whole text in a title or tip; never a figure. Runs in the page.
 */
function clipped(): string[] {
  const found: string[] = [];
  for (const element of document.querySelectorAll<HTMLElement>("#tmeter-page *")) {
    if (element.closest("svg, .print-sheet, .u-wrap, .map, .strip") || element.clientWidth === 0) continue;
    const { overflowX, textOverflow, display } = getComputedStyle(element);
    if (display === "inline" || overflowX === "auto" || overflowX === "scroll") continue;
    if (element.scrollWidth <= element.clientWidth + 1) continue;
    const isCut = [element, ...element.querySelectorAll<HTMLElement>("*")].some((each) => getComputedStyle(each).textOverflow === "ellipsis");
    if (isCut && element.matches(".cell") && element.querySelector("[title], [data-tip]") && !element.querySelector(".figure")) continue;
    if (textOverflow === "ellipsis" && element.closest("[title], [data-tip]") && !element.closest(".figure, .card")) continue;
    found.push(`${element.tagName}.${element.className}: ${element.scrollWidth} in ${element.clientWidth}, ${element.innerText.slice(0, 60)}`);
  }
  return found;
}

/** Marks on axes are drawn, not laid out: the widest text beside the y axis has room there. */
const views = ["#modules", "#modules?at=", "#operators", "#tensors", "#charts", "#graph", "#map", "#findings", "#about"];

for (const width of [390, 1400])
  for (const [name, report] of Object.entries({ resnet, roofline, language, trained }))
    test(`nothing of the report ${name} is clipped at ${width} pixels`, () =>
      withPage(report(), { viewport: { width, height: 844 } }, async ({ page }) => {
        const fold = page.locator("details.totals > summary");
        if (await fold.count() > 0) await fold.click();
        await page.locator(".card.more").click().catch(() => undefined);
        for (const hash of views) {
          const tab = page.locator(`#tab-${/\w+/.exec(hash)![0]}`);
          if (await tab.count() === 0) continue;
          await page.evaluate((to) => { location.hash = to; }, hash);
          await becomes(() => tab.getAttribute("aria-selected"), "true", hash);
          await eventually(async () => assert.deepEqual(await page.evaluate(clipped), [], hash), 5_000);
        }
      }));

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

/** Of each row: pixels for the name, and what twelve of its characters take. Runs in the page. */
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

test("on a phone the details stand below the table, both on the screen", () =>
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

test("a slash goes to the search of the view, and to that of the modules where the view has none", () =>
  withPage(resnet(), {}, async ({ page }) => {
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await openTab(page, /Operators/);
    await page.locator(".grid-row").first().waitFor();
    await page.keyboard.press("/");
    await becomes(focused, "Search operators, modules, source");
    await page.keyboard.type("a/b");
    await becomes(() => page.getByLabel("Search operators, modules, source").inputValue(), "a/b");
    await openTab(page, "Map");
    await page.keyboard.press("/");
    await becomes(focused, "Search modules and types");
  }));
