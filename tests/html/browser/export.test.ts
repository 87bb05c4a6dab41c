// Files saved from the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, resnet, withPage } from "./browser";

async function saved(page: Page, button: string): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).first().click()]);
  return { name: download.suggestedFilename(), text: readFileSync((await download.path())!, "utf8") };
}

test("a table is saved as CSV, as it stands", () =>
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

test("a chart is saved as a picture that a browser draws", () =>
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
