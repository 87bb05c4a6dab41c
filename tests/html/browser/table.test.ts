// The first screen and the tree of modules: sort, search, filter, collapse, keyboard, links, copying.
import assert from "node:assert/strict";
import { test } from "node:test";
import { becomes, eventually, hashOf, names, resnet, rewritten, rowNamed, withPage } from "./browser";
import type { Modules } from "page/data/raw";

test("the first screen shows size, cost and coverage", () =>
  withPage(resnet(), {}, async ({ page }) => {
    const cards = (await page.locator(".cards").innerText()).replace(/\s+/g, " ");
    for (const words of ["Coverage 100.0 %", "175 operators", "4.09 G 4,089,184,256 MAC", "25.56 M 25,557,032", "2 info"])
      assert.ok(cards.includes(words), `${words} in ${cards}`);
    assert.equal(await page.title(), "ResNet – tmeter");
  }));

test("the other totals are grouped by plugin", () =>
  withPage(resnet(), { viewport: { width: 1000, height: 800 } }, async ({ page }) => {
    assert.equal(await page.locator(".plugin-cards").count(), 0);
    await page.locator(".card.more").click();
    const energy = page.getByRole("group", { name: "energy", exact: true });
    await energy.waitFor();
    assert.match(await energy.innerText(), /^energy\s[^]*E compute\s/);
    const plugins = await page.locator(".plugin-cards h2").allInnerTexts();
    assert.equal(new Set(plugins).size, plugins.length, plugins.join());
    await page.getByRole("button", { name: "fewer" }).click();
    await energy.waitFor({ state: "detached" });
  }));

test("a number shows its convention and provenance on hover and on focus", () =>
  withPage(resnet(), {}, async ({ page }) => {
    const card = page.locator(".card").filter({ hasText: "MACs" }).first();
    const tip = page.getByRole("tooltip");
    for (const approach of [() => card.hover(), () => card.focus()]) {
      await approach();
      await tip.waitFor();
      const text = await tip.innerText();
      assert.match(text, /4,089,184,256 MAC/);
      assert.match(text, /Convention: .+/);
      assert.match(text, /Provenance: computed/);
      await page.keyboard.press("Escape");
      await tip.waitFor({ state: "hidden" });
      await page.mouse.move(0, 0);
    }
  }));

test("a click on a heading sorts siblings, and again the other way", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByRole("button", { name: "Collapse" }).click();
    const heading = page.getByRole("columnheader", { name: "MACs" });
    await heading.getByRole("button").click();
    await becomes(() => heading.getAttribute("aria-sort"), "descending");
    await becomes(async () => (await names(page)).slice(0, 5), ["ResNet", "layer3", "layer2", "layer4", "layer1"]);
    await heading.getByRole("button").click();
    await becomes(() => heading.getAttribute("aria-sort"), "ascending");
    await becomes(async () => (await names(page)).at(-1), "layer3");
  }));

test("a search shows matches and their surroundings", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByLabel("Search modules and types").fill("layer4 downsample conv2d");
    await becomes(() => names(page), ["ResNet", "layer4", "0", "downsample", "0"]);
    await page.getByLabel("Search modules and types").fill("nothing like this");
    await page.locator(".grid").getByText("no module matches").waitFor();
  }));

test("types can be chosen, and the list can be flat", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByText("Flat list").click();
    await page.locator("summary").filter({ hasText: "Types" }).click();
    await page.getByRole("checkbox", { name: /Linear/ }).check();
    await becomes(() => names(page), ["fc"]);
  }));

test("columns can be chosen", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.locator("summary").filter({ hasText: "Columns" }).click();
    await page.getByRole("checkbox", { name: "trainable" }).check();
    await page.getByRole("checkbox", { name: "FLOPs", exact: true }).uncheck();
    await eventually(async () => {
      const headings = (await page.getByRole("columnheader").allInnerTexts()).map((text) => text.trim());
      assert.ok(headings.includes("trainable") && !headings.includes("FLOPs"), headings.join());
    });
  }));

test("the keyboard walks, opens and closes the tree", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByRole("button", { name: "Collapse" }).click();
    const grid = page.getByRole("treegrid");
    await grid.focus();
    const active = () => grid.evaluate((element) =>
      document.getElementById(element.getAttribute("aria-activedescendant") ?? "")?.innerText.split("\n")[0]?.trim());
    const rows = () => grid.getAttribute("aria-rowcount").then(Number);
    const press = async (key: string, leadsTo: string) => {
      await page.keyboard.press(key);
      await becomes(active, leadsTo, key);
    };
    await becomes(rows, 1 + 11);
    for (const name of ["ResNet", "conv1", "bn1", "relu", "maxpool", "layer1"]) await press("ArrowDown", name);
    await page.keyboard.press("ArrowRight");
    await eventually(async () => assert.ok(await rows() > 1 + 11, "opened"));
    await press("ArrowRight", "0");
    await press("ArrowLeft", "layer1");
    await page.keyboard.press("ArrowLeft");
    await becomes(rows, 1 + 11);
    await press("End", "fc");
    await press("Home", "ResNet");
  }));

test("an address leads to a row, and a selected row is in the address", () =>
  withPage(resnet(), { hash: "#modules?at=layer3.2.conv2" }, async ({ page }) => {
    const selected = page.locator('.grid-row[aria-selected="true"]');
    await selected.waitFor();
    assert.match(await selected.innerText(), /conv2/);
    const details = () => page.locator(".details .long-name").innerText();
    await becomes(details, "layer3.2.conv2");
    await rowNamed(page, "bn2").click();
    await becomes(() => hashOf(page), "#modules?at=layer3.2.bn2");
    await becomes(details, "layer3.2.bn2");
  }));

test("repeats are drawn once and open", () =>
  withPage(resnet(), {}, async ({ page }) => {
    const run = page.locator(".grid-row").filter({ hasText: /repeat \d+ ×/ }).first();
    const twist = page.locator(".grid-row").filter({ hasText: /^layer3/ }).locator(".twist");
    if (await run.count() === 0) await twist.click();
    const fold = page.getByLabel("Fold repeats");
    const rows = () => page.getByRole("treegrid").getAttribute("aria-rowcount").then(Number);
    await run.waitFor();
    const folded = await rows();
    await fold.uncheck();
    await eventually(async () => assert.ok(await rows() > folded));
  }));

test("the whole table can be copied as tab-separated text", () =>
  withPage(resnet(), { permissions: ["clipboard-read", "clipboard-write"] }, async ({ page }) => {
    await page.getByRole("button", { name: "Collapse" }).click();
    await becomes(() => page.getByRole("treegrid").getAttribute("aria-rowcount").then(Number), 1 + 11);
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await page.getByRole("button", { name: "Copy as TSV" }).click();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await eventually(async () => assert.notEqual(await copied(), ""));
    const lines = (await copied()).trim().split("\n").map((line) => line.split("\t"));
    assert.equal(lines.length, 1 + 11);
    const macs = lines[0]!.indexOf("MACs");
    assert.equal(lines.find(([name]) => name === "fc")![macs], "2048000");  // 2,048 × 1,000, by hand
  }));

test("of a hundred thousand rows few are drawn at once, and the last can be reached", () => {
  const file = rewritten<Modules>(resnet(), "long", "modules", (modules) => {
    const count = 100_000, first = modules.name.length;
    const fill = (list: number[], value: number) => { for (let i = first; i < count; ++i) list.push(value); };
    for (let i = first; i < count; ++i) modules.name.push(`row ${i}`);
    fill(modules.parent, 0);
    fill(modules.calls, 1);
    for (const texts of [modules.type, modules.text, modules.input_size, modules.output_size]) fill(texts.at, texts.at[1]!);
    modules.repeats = [];
  });
  return withPage(file, {}, async ({ page }) => {
    await page.getByRole("treegrid").focus();
    await page.keyboard.press("End");
    await page.locator('.grid-row[aria-selected="true"]').filter({ hasText: "row 99999" }).waitFor();
    await eventually(async () => assert.ok(await page.locator(".grid-row").count() < 80));
    const frames = await page.evaluate(scrolled, 120);
    console.log(`frames while scrolling: ${frames.length}, mean ${mean(frames).toFixed(1)} ms, longest ${Math.max(...frames).toFixed(1)} ms`);
    assert.ok(frames.length > 0);
  });
});

const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Scrolls for `frames` frames, 40 rows each; returns the time of every frame. Runs in the page. */
function scrolled(frames: number): Promise<number[]> {
  const grid = document.querySelector(".grid")!;
  grid.scrollTop = 0;
  const times: number[] = [];
  return new Promise((resolve) => {
    let last = performance.now();
    const step = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      grid.scrollTop += 40 * 30;
      if (times.length < frames) requestAnimationFrame(step);
      else resolve(times);
    };
    requestAnimationFrame(step);
  });
}
