// The author of a model chooses its names; they must not affect the page.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Modules, Summary, Tensors } from "page/data/raw";
import { becomes, eventually, hashOf, makeReport, openTab, path, resnet, rewritten, source, withPage } from "./browser";

const evil = "</script><img src=x onerror=\"document.title='owned'\">";
const million = "m".repeat(1_000_000);

/** A safetensors file with tensors of these names, one element each. */
function evilModel(names: string[]): string {
  const header = Object.fromEntries(names.map((name, i) =>
    [name, { dtype: "F32", shape: [1], data_offsets: [4 * i, 4 * i + 4] }]));
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = path("evil.safetensors");
  writeFileSync(file, Buffer.concat([length, text, Buffer.alloc(4 * names.length)]));
  return file;
}

test("markup, controls and marks that turn text around are only text", () => {
  const names = [`${evil}.weight`, "a\u0000\u001b[31m.bias", "javascript:alert(1).weight", "\u202egpj.weight", "__proto__.constructor"];
  const file = makeReport("evil", evilModel(names), "--plugins=params");
  return withPage(file, {}, async ({ page }) => {
    await page.getByRole("button", { name: "Expand all" }).click();
    await eventually(async () => {
      const text = await page.locator(".grid").innerText();
      assert.ok(text.includes("</script><img src=x onerror="), text);
    });
    for (const tab of ["Map", "Tensors", "Conventions", "Modules"]) {
      await openTab(page, tab);
      assert.equal(await page.locator("img").count(), 0, tab);
    }
    await page.locator(".grid-row").first().waitFor();
    for (const row of await page.locator(".grid-row").all()) await row.click();
    assert.match(await page.title(), /tmeter$/);
    const name = await page.locator(".details .long-name").innerText();
    assert.ok(!/[\u0000-\u0009\u202e]/.test(name), name);
  });
});

test("the document that holds every kind of value is shown, view by view", () => {
  const file = makeReport("every", "show", join(source, "tests/unit/reports/golden/report.json"));
  return withPage(file, {}, async ({ page }) => {
    const cards = page.locator(".cards");
    await eventually(async () => assert.match(await cards.innerText(), /≥9\.01 P\s+lower bound/));
    await page.getByRole("button", { name: "Expand all" }).click();
    const shown = async () => (await page.locator(".grid-row .number").allInnerTexts()).join(" ");
    await eventually(async () => assert.match(await shown(), /≥9\.01.*\?.*n\/a/s));
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      await becomes(() => tab.getAttribute("aria-selected"), "true");
      await page.locator("#view > *").first().waitFor();
      assert.equal(await page.locator("img, .failure").count(), 0);
    }
  });
});

test("an address with markup in it selects nothing and does nothing", () =>
  withPage(resnet(), { hash: `#modules?at=${encodeURIComponent(evil)}&metric=${encodeURIComponent(evil)}` }, async ({ page }) => {
    assert.equal(await page.locator(".details").count(), 0);
    assert.equal(await page.locator("img").count(), 0);
  }));

test("a script that got into the page would not run", () =>
  withPage(resnet(), {}, async ({ page, complaints }) => {
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'owned'";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror=\"document.title='owned'\">");
      // Its handler, if there were one, would have been called before this one.
      const image = document.querySelector("img")!;
      return new Promise((resolve) => { image.addEventListener("error", resolve); }).then(() => undefined);
    });
    assert.match(await page.title(), /ResNet/);
    // The console reports both scripts and the picture, with some delay.
    await eventually(() => assert.ok(complaints.length >= 3, complaints.join()));
    assert.ok(complaints.every((text) => /Content Security Policy/.test(text)), complaints.join());
    complaints.length = 0;
  }));

test("names of a megabyte are shortened in tables and listed in the details", () => {
  const file = rewritten<Modules>(resnet(), "million", "modules", (modules) => {
    modules.name[1] = million;
    modules.type.texts[modules.type.at[1]!] = million;
  });
  return withPage(file, {}, async ({ page }) => {
    const row = page.locator(".grid-row").nth(1);
    assert.ok((await row.innerText()).length < 2000);
    await row.click();
    await eventually(async () =>
      assert.match(await page.locator(".details .long-name").innerText(), /and 980,000 more characters/));
    await becomes(() => hashOf(page), "#modules?at=%231");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  });
});

test("a megabyte in a finding, a warning, a tensor's name and a convention is shown without harm", () => {
  const words = rewritten<Summary>(resnet(), "words", "summary", (summary) => {
    Object.assign(summary.findings[0]!, { text: million, evidence: million, action: million });
    summary.warnings.push(million);
    summary.metrics[0]!.convention = million;
    summary.model.name = million;
  });
  const file = rewritten<Tensors>(words, "words-2", "tensors", (tensors) => { tensors.name[0] = million; });
  return withPage(file, { hash: "#findings" }, async ({ page }) => {
    for (const tab of ["Conventions", "Tensors", "Modules"]) await openTab(page, tab);
    assert.ok((await page.locator("h1").innerText()).length < 200);
  });
});

test("a truncated file is reported", () => {
  const file = path("cut.html");
  const text = readFileSync(resnet(), "utf8");
  const script = text.lastIndexOf("<script>");
  // The page is complete, but most of the data is missing.
  writeFileSync(file, text.slice(0, text.indexOf("tmeter-modules") + 400) + "</script>" + text.slice(script));
  return withPage(file, {}, async ({ page }) => {
    assert.match(await page.locator(".failure").innerText(), /cannot be shown/);
  });
});
