// Text is readable on each of its background colours, in both themes: 4.5 : 1 (WCAG 2.1, 1.4.3).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const css = readFileSync(join(process.env["SOURCE"]!, "plugins/reports/html/web/src/style/tokens.css"), "utf8");

function colors(block: string): Map<string, string> {
  const begin = css.indexOf(block), text = css.slice(begin, css.indexOf("}", begin));
  assert.ok(begin >= 0, block);
  return new Map([...text.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, color]) => [name!, color!]));
}

// Relative luminance and contrast ratio as WCAG 2.1 defines them.
function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const kinds = [...Array(9).keys(), "other"].map((kind) => `kind-${kind}`);
const surfaces = ["paper", "surface", "surface-2"];
const pairs: [text: string, grounds: string[]][] = [
  ["ink", [...surfaces, "accent-soft", "heat-low"]], ["ink-2", surfaces], ["accent", [...surfaces, "accent-soft"]],
  ["warning", [...surfaces, "warning-soft"]], ["error", [...surfaces, "error-soft"]],
  ["tile-ink", kinds], ["branch-ink", ["branch-0", "branch-1", "branch-2"]], ["heat-ink", ["heat-high"]],
];

for (const [theme, block] of [["light", ":root {"], ["dark", ':root[data-theme="dark"] {'], ["dark by the system", ":root:not([data-theme]) {"]] as const) {
  test(`text can be read, ${theme}`, () => {
    const named = colors(block);
    for (const [text, grounds] of pairs)
      for (const ground of grounds) {
        const ratio = contrast(named.get(text)!, named.get(ground)!);
        assert.ok(ratio >= 4.5, `${text} on ${ground}: ${ratio.toFixed(2)}`);
      }
  });
}

test("both dark themes are the same", () => {
  assert.deepEqual(colors(':root[data-theme="dark"] {'), colors(":root:not([data-theme]) {"));
});
