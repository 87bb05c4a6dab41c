// Appearance: colours, print, a narrow screen, arrows. (shows.test.ts: widths, screen readers.)
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { becomes, eventually, resnet, trained, withPage } from "./browser";

const brightness = (page: Page): Promise<number> => page.evaluate(() => {
  const [r = 0, g = 0, b = 0] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g)!.map(Number);
  return (r + g + b) / 3;
});
const lightens = (page: Page) => eventually(async () => assert.ok(await brightness(page) > 200));
const darkens = (page: Page) => eventually(async () => assert.ok(await brightness(page) < 60));

test("colours follow the system, and a button switches them", async () => {
  await withPage(resnet(), { colorScheme: "light" }, async ({ page }) => {
    await lightens(page);
    await page.getByRole("button", { name: /switch between light and dark/ }).click();
    await darkens(page);
  });
  await withPage(resnet(), { colorScheme: "dark" }, ({ page }) => darkens(page));
});

test("print has the cards, the map, the table and the findings, on white, from any view", () =>
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

test("arrow keys move between tabs", () =>
  withPage(resnet(), {}, async ({ page }) => {
    await page.getByRole("tab", { name: /Modules/ }).focus();
    await page.keyboard.press("ArrowRight");
    await becomes(() => page.getByRole("tab", { name: "Map" }).getAttribute("aria-selected"), "true");
    await becomes(() => page.evaluate(() => document.activeElement?.id), "tab-map");
  }));
