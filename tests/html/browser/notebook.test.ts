// In a notebook the page is in a sandboxed frame without an origin (apps/python/tmeter/result.py), where it has neither an
// address of its own nor storage.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { path, resnet, withPage } from "./browser";

test("all views work in the frame of a notebook", () => {
  const page = readFileSync(resnet(), "utf8").replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const file = path("notebook.html");
  writeFileSync(file, `<!doctype html><p class="about">cell</p><iframe sandbox="allow-scripts" srcdoc="${page}"
    style="width: 100%; height: 640px"></iframe>`);
  return withPage(file, {}, async ({ page: notebook }) => {
    const frame = notebook.frameLocator("iframe");
    for (const [tab, shown] of [["Operators", "aten::conv2d"], ["Tensors", "conv1.weight"], ["Modules", "layer1"]] as const) {
      await frame.getByRole("tab", { name: tab }).click();
      await frame.getByText(shown, { exact: true }).first().waitFor();
    }
    await frame.locator("header button").first().click();  // the theme, which cannot be saved here
    assert.equal(await frame.locator(".failure").count(), 0);
  });
});
