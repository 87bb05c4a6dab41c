// Files that the page saves: a table as CSV, a chart as SVG.
import assert from "node:assert/strict";
import { test } from "node:test";
import { linear, logarithmic, svgOf, type SvgChart } from "page/charts/svg";
import { csv } from "page/format/csv";

test("CSV quotes special characters as in RFC 4180, and formulas are disabled", () => {
  assert.equal(csv([["a,b", 'c"d', "e\nf"], ["=1+1", "-1.5", "plain"]]), '"a,b","c""d","e\nf"\r\n\'=1+1,-1.5,plain\r\n');
});

test("ticks are round numbers at the places of their values", () => {
  const { at, ticks } = linear(0, 10, 100, 5);
  assert.deepEqual(ticks, [0, 2, 4, 6, 8, 10]);
  assert.deepEqual([0, 5, 10].map(at), [0, 50, 100]);
  // A sixth of 4096 bytes is 683; the next power of two is 1024.
  assert.deepEqual(linear(0, 4096, 100, 6, true).ticks, [0, 1024, 2048, 3072, 4096]);
  assert.equal(linear(7, 7, 100, 5).at(7), 50);
});

test("a logarithmic scale begins and ends at powers of its base", () => {
  const { at, ticks } = logarithmic(2, 500, 300, 8, 10);  // 1 … 1000: three decades
  assert.deepEqual(ticks.map((v) => Math.round(v)), [1, 10, 100, 1000]);
  assert.deepEqual([1, 10, 1000].map((v) => Math.round(at(v))), [0, 100, 300]);
});

const chart: SvgChart = {
  title: "cost <b> & more", xTitle: "size", yTitle: "cost", x: [0, 5, 10], formatX: String, formatY: String,
  curves: [{ title: "a", color: "#123456", kind: "line", dash: [8, 4], y: [0, null, 20] }, { title: "b", color: "#654321", kind: "points", dash: [], y: [null, 10, null] }],
  logX: false, logY: false, bytesX: false, bytesY: false, ink: "#000", grid: "#ccc", paper: "#fff",
};

test("an SVG chart has its curves at their places, and text as text", () => {
  const text = svgOf(chart);
  assert.ok(text.includes("<title>cost &lt;b&gt; &amp; more</title>") && !text.includes("<b>"));
  // Marks "0" to "20" take 2 × 7 pixels beside 40: the plot is 674 wide from x = 54 on and 400 high from y = 36 on.
  assert.ok(text.includes('<path d="M54 436L728 36"'), text);  // (0, 0) at the lower left, (10, 20) at the upper right
  assert.equal(text.split('stroke-dasharray="8 4"').length, 3, "a dashed line, in the plot and in the legend");
  assert.ok(text.includes('<circle cx="391" cy="236"'), text);  // (5, 10): the middle
});

test("an SVG chart without points is still a picture", () => {
  assert.match(svgOf({ ...chart, x: [], curves: [], logX: true, logY: true }), /^<svg [^]*<\/svg>\n$/);
});
