// Files saved from the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, resnet, withPage } from "./browser";

async function saved(page: Page, button: string): Promise<{ name: string; data: Buffer; text: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).first().click()]);
  const data = readFileSync((await download.path())!);
  return { name: download.suggestedFilename(), data, text: data.toString() };
}

test("a table is saved as CSV with its shown rows and columns", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByRole("button", { name: "Collapse" }).click();
    await becomes(() => page.getByRole("treegrid").getAttribute("aria-rowcount").then(Number), 1 + 11);
    const { name, text } = await saved(page, "Save modules as CSV");
    assert.equal(name, "ResNet modules.csv");
    const lines = text.trim().split("\r\n").map((line) => line.split(","));
    assert.equal(lines.length, 1 + 11);
    const macs = lines[0]!.indexOf("MACs");
    assert.equal(lines.find(([module]) => module === "fc")![macs], "2048000");  // 2,048 × 1,000, by hand
  }));

test("a chart is saved as an SVG picture that a browser draws", () =>
  withPage(resnet(), { hash: "#charts" }, async ({ page }) => {
    await page.locator(".plot canvas").first().waitFor();
    const { name, text } = await saved(page, "Save peak mem of every operator call as SVG");
    assert.equal(name, "ResNet peak mem of every operator call.svg");
    const shown = await page.evaluate((svg) => {
      const { documentElement: root } = new DOMParser().parseFromString(svg, "image/svg+xml");
      return [root.nodeName, root.querySelector("title")?.textContent, root.querySelectorAll('path[fill="none"]').length];
    }, text);
    assert.deepEqual(shown, ["svg", "peak mem of every operator call", 1]);
  }));

test("a chart is saved as a PNG with its curve, title and legend", () =>
  withPage(resnet(), { hash: "#charts", colorScheme: "light" }, async ({ page }) => {
    const canvas = page.locator(".plot canvas").first();
    await canvas.waitFor();
    const { name, data } = await saved(page, "Save peak mem of every operator call as PNG");
    assert.equal(name, "ResNet peak mem of every operator call.png");
    const [width, height, blue, ink] = await page.evaluate(async (base64) => {
      const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [picture.width, picture.height];
      const context = copy.getContext("2d", { willReadFrequently: true })!;
      context.drawImage(picture, 0, 0);
      const near = (at: Uint8ClampedArray, i: number, color: number[]) => color.every((v, k) => Math.abs(v - at[i + k]!) < 24);
      const count = (y: number, rows: number, color: number[]) => {
        const { data: at } = context.getImageData(0, y, copy.width, rows);
        return Array.from({ length: at.length / 4 }, (_, i) => 4 * i).filter((i) => near(at, i, color)).length;
      };
      // The accent of the curve and of its mark in the legend; the ink of the title.
      return [picture.width, picture.height, count(34, copy.height - 34, [0x1f, 0x5f, 0xd0]), count(0, 34, [0x16, 0x19, 0x1f])] as const;
    }, data.toString("base64"));
    const plot = await canvas.evaluate((e: HTMLCanvasElement) => [e.width, e.height] as const);
    assert.deepEqual([width, height], [plot[0], plot[1] + 34 + 20 + 14]);
    assert.ok(blue > 200 && ink > 100, `${blue} ${ink}`);
  }));

test("the graph is saved as a drawing with its boxes, sizes and colours", () =>
  withPage(resnet(), { hash: "#graph", colorScheme: "light" }, async ({ page }) => {
    await page.locator(".graph .box").first().waitFor();
    const { name, text } = await saved(page, "Save graph of ResNet as SVG");
    assert.equal(name, "ResNet graph of ResNet.svg");
    assert.doesNotMatch(text, /class=|style=|var\(/);
    const [texts, fills] = await page.evaluate((svg) => {
      const { documentElement: root } = new DOMParser().parseFromString(svg, "image/svg+xml");
      return [[...root.querySelectorAll("text")].map((each) => each.textContent), [...root.querySelectorAll("g > rect")].map((each) => each.getAttribute("fill"))] as const;
    }, text);
    for (const words of ["conv1 Conv2d", "1×64×112×112", "input x", "output"]) assert.ok(texts.includes(words), words);
    assert.ok(new Set(fills).size > 3, fills.join());
  }));
