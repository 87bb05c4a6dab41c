// The page of a comparison: search, order, hidden rows, and its policy against other scripts.
import assert from "node:assert/strict";
import { writeFileSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, eventually, makeComparison, path, withPage } from "./browser";

const pruned = (): string => makeComparison("pruned-page", "pruned/before.pt2", "pruned/after.pt2");
const shown = (page: Page): Promise<string[]> => page.locator(".modules tbody tr:visible td.m:first-child code").allInnerTexts();

test("a comparison shows changes alone, or all modules", () =>
  withPage(pruned(), {}, async ({ page }) => {
    const changes = await shown(page);
    await page.getByLabel("only changes").uncheck();
    await eventually(async () => assert.ok((await shown(page)).length > changes.length));
  }));

test("a comparison is searched by words of paths and types", () =>
  withPage(pruned(), {}, async ({ page }) => {
    const all = (await shown(page)).length;
    await page.keyboard.press("/");
    await page.keyboard.type("conv2d");
    await eventually(async () => assert.match(await page.getByRole("status").innerText(), /^\d+ of \d+ modules found$/));
    const found = await page.locator(".modules tbody tr:visible").allInnerTexts();
    assert.ok(found.length > 0 && found.length < all);
    for (const text of found) assert.match(text, /Conv2d/);
    await page.getByLabel("Search modules and types").fill("");
    await becomes(async () => (await shown(page)).length, all);
  }));

test("a comparison is sorted by the size of changes, in reverse, and in the order of the model", () =>
  withPage(pruned(), {}, async ({ page }) => {
    const order = await shown(page);
    const head = page.locator(".modules thead tr:last-child th").nth(2);  // change of the first metric
    const sizes = () => page.locator(".modules tbody tr:visible").evaluateAll((rows) => rows.map((row) => {
      const [before, after] = [...(row as HTMLTableRowElement).cells].slice(2, 4).map((cell) => Number(cell.dataset["v"] ?? 0));
      return Math.abs(after! - before!);
    }));
    const sorted = (await sizes()).sort((a, b) => b - a);
    assert.ok(sorted[0]! > sorted[sorted.length - 1]!);
    await head.getByRole("button").click();
    await becomes(() => head.getAttribute("aria-sort"), "descending");
    assert.deepEqual(await sizes(), sorted);
    await head.getByRole("button").click();
    await becomes(() => head.getAttribute("aria-sort"), "ascending");
    assert.deepEqual(await sizes(), sorted.reverse());
    await head.getByRole("button").click();
    await becomes(() => shown(page), order);
  }));

test("on a phone the totals of a comparison are on the screen", () =>
  withPage(pruned(), { viewport: { width: 390, height: 844 } }, async ({ page }) => {
    for (const cell of await page.locator(".totals tbody :is(th, td)").all()) {
      const { left, right } = await cell.evaluate((e) => e.getBoundingClientRect());
      assert.ok(left >= 0 && right <= 390, `${left} to ${right}`);
    }
    assert.match(await page.locator(".totals tbody tr").first().innerText(), /^params\s/);
  }));

test("on a phone the modules of a comparison are a list that does not scroll sideways, and can be sorted", () =>
  withPage(pruned(), { viewport: { width: 390, height: 844 } }, async ({ page }) => {
    for (const wide of await page.locator(".wide").all())
      assert.ok(await wide.evaluate((e) => e.scrollWidth <= e.clientWidth), await wide.getAttribute("aria-label") ?? "");
    const cells = await page.locator(".modules td:visible").evaluateAll((all) => all.map((e) => [e.getBoundingClientRect().right, (e as HTMLElement).innerText] as const));
    assert.ok(cells.length > 20);
    for (const [right, text] of cells) assert.ok(right <= 390, `${text}: ${right}`);
    // SmallNet's conv2 loses 8 of 32 filters of 16 × 3 × 3: 4,608 → 3,456; names of metrics are made by the style.
    const rowOf = (name: string) => page.locator(".modules tbody tr").filter({ has: page.getByText(name, { exact: true }) });
    const row = rowOf("conv2");
    assert.match(await row.innerText(), /4\.61 K\s+3\.46 K\s+−25\.0 %/);
    assert.equal(await row.locator("td.n").first().evaluate((e) => getComputedStyle(e, "::before").content), '"params"');
    // What stays is left out: its batch norm has no MACs on either side.
    const norm = rowOf("bn2");
    assert.equal(await norm.locator('td[data-m="MACs"]').isVisible(), false);
    const names = await shown(page);
    await page.getByLabel("Order").selectOption({ label: "change of params" });
    await eventually(async () => assert.notDeepEqual(await shown(page), names));
    assert.equal((await shown(page))[0], "(model)");
    await page.getByLabel("Order").selectOption({ label: "as in the model" });
    await becomes(() => shown(page), names);
  }));

test("as many metrics of modules are shown as fit, and others can be chosen", () =>
  withPage(makeComparison("wide-diff", "models/mobilenet_v2.pt2", "models/mobilenet_v3_large.pt2"), { viewport: { width: 1400, height: 900 } }, async ({ page }) => {
    const choice = page.getByRole("group", { name: "metrics of the modules" });
    const chosen = () => choice.locator("label:has(:checked)").allInnerTexts().then((all) => all.map((text) => text.trim()));
    const heads = () => page.locator(".modules [scope=colgroup]:visible").allInnerTexts();
    const fits = () => page.locator(".wide").last().evaluate((e) => e.scrollWidth <= e.clientWidth);
    // Two FLOPs are a MAC and four bytes a parameter: these change in the same proportion.
    await becomes(heads, ["params", "MACs", "output mem"]);
    assert.deepEqual(await chosen(), await heads());
    assert.ok(await fits());
    await page.setViewportSize({ width: 900, height: 900 });
    await becomes(heads, ["params"]);
    assert.ok(await fits());
    await choice.getByRole("checkbox", { name: "param mem" }).check();
    await becomes(heads, ["params", "param mem"]);
    await page.setViewportSize({ width: 1400, height: 900 });
    await becomes(chosen, ["params", "param mem"]);
    await page.getByRole("button", { name: "in %" }).nth(1).click();
    await becomes(() => page.locator(".modules th[aria-sort]").evaluate((e) => [...e.parentElement!.children].indexOf(e)), 15);  // of the fourth metric
  }));

test("a script that got into a comparison would not run", () => {
  const evil = "<script>document.title = 'owned'</script><img src='data:,' onerror=\"document.title='owned'\"><style>body { color: red }</style>";
  const file = path("evil-diff.html");
  writeFileSync(file, readFileSync(pruned(), "utf8").replace("<tbody>", `${evil}<tbody>`));
  return withPage(file, {}, async ({ page, complaints }) => {
    await page.getByLabel("Search modules and types").waitFor();  // its own script ran
    await eventually(() => assert.ok(complaints.length >= 3, complaints.join()));
    assert.ok(complaints.every((text) => /Content Security Policy/.test(text)), complaints.join());
    assert.doesNotMatch(await page.title(), /owned/);
    complaints.length = 0;
  });
});
