// The contents of charts: areas in proportion, curves over one x, boxes of the operator graph.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cornersAround, isCeiling, valueAt } from "page/charts/ceilings";
import { aligned, spansDecades } from "page/charts/curves";
import { edgeText } from "page/charts/edge_text";
import { draftOf, laidOut } from "page/charts/flow";
import { tiles, weights } from "page/charts/tiles";
import { runRow } from "page/grid/tree_rows";
import { Axis } from "page/data/codes";
import type { Metric, Operators, Series } from "page/data/raw";
import { tree } from "./sample_tree";

// stem 10, each block 20 (conv 15, relu 5), head 30: 100 in all.
const values = Float64Array.from([100, 10, 60, 20, 15, 5, 20, 15, 5, 20, 15, 5, 30]);

test("areas of an icicle are in proportion", () => {
  const drawn = tiles(tree, weights(tree, values), 0, { kind: "icicle", width: 1000, height: 400, levels: 9, isFolded: () => false });
  const width = (m: number) => Math.round(drawn.find((tile) => tile.row === m)!.width);
  assert.deepEqual([0, 1, 2, 12, 4].map(width), [1000, 100, 600, 300, 150]);
});

test("tiles of a treemap are inside the tile of their module", () => {
  const drawn = tiles(tree, weights(tree, values), 0, { kind: "treemap", width: 800, height: 600, levels: 9, isFolded: () => false });
  for (const tile of drawn.filter(({ row }) => row > 0)) {
    const outer = drawn.find(({ row }) => row === tree.parent(tile.row))!;
    assert.equal(tile.inside, outer.row);
    assert.ok(tile.x >= outer.x && tile.y >= outer.y);
    assert.ok(tile.x + tile.width <= outer.x + outer.width && tile.y + tile.height <= outer.y + outer.height);
  }
});

test("a zoomed map shows a part as the whole", () => {
  const drawn = tiles(tree, weights(tree, values), 2, { kind: "icicle", width: 900, height: 400, levels: 1, isFolded: () => false });
  assert.deepEqual(drawn.map(({ row }) => row), [2, 3, 6, 9]);
  assert.equal(Math.round(drawn[1]!.width), 300);
});

test("a run of identical modules is one area that shows the first of them", () => {
  const drawn = tiles(tree, weights(tree, values), 0, { kind: "icicle", width: 1000, height: 400, levels: 9, isFolded: (first) => first === 3 });
  assert.deepEqual(drawn.map(({ row }) => row).sort((a, b) => a - b), [runRow(3), 0, 1, 2, 3, 4, 5, 12]);
  assert.deepEqual(drawn.filter(({ isEach }) => isEach).map(({ row }) => row).sort((a, b) => a - b), [3, 4, 5]);
  const width = (row: number) => Math.round(drawn.find((tile) => tile.row === row)!.width);
  assert.deepEqual([2, runRow(3), 3, 4, 5].map(width), [600, 600, 600, 450, 150]);  // three blocks of 20: conv 45, relu 15 of 100
});

test("parts that count more than their module, as tied tensors do, still fit", () => {
  const tied = values.slice();
  tied[12] = 90;
  assert.equal(weights(tree, tied)[0], 160);
});

test("curves share their x", () => {
  const { x, y } = aligned([{ x: [1, 3], y: [10, 30] }, { x: [2, 3], y: [5, 6] }]);
  assert.deepEqual(x, [1, 2, 3]);
  assert.deepEqual(y, [[10, null, 30], [null, 5, 6]]);
  assert.ok(spansDecades([1, 1000]) && !spansDecades([1, 50]) && !spansDecades([0, 1000]));
});

// Operator 0 in stem, 1 and 2 in two calls of blocks.0, 3 in the root itself; 1 reads 0, 2 reads 1, 3 reads 2.
const texts = { at: [0, 0, 0, 0], texts: [""] };
const operators: Operators = {
  op: texts, module: [1, 3, 3, 0], call: [1, 2, 3, 0], calls: { module: [0, 1, 3, 3], parent: [-1, 0, 0, 0] }, answers: [],
  location: texts, arguments: texts, results: texts, back: [[], [1], [1], [1]], inputs: [[0], [], [], []], outputs: [[3]], tensors: [[], [], [], []],
};

test("every call of a module is a box of its own", () => {
  const { boxes, edges } = draftOf(tree, operators, 0);
  assert.deepEqual([...boxes.keys()], ["c1", "i0", "c2", "c3", "o3", "r0"]);
  assert.deepEqual([...edges.keys()], ["i0\nc1", "c1\nc2", "c2\nc3", "c3\no3", "o3\nr0"]);
});

test("everything outside the module is one box before it and one after it", () => {
  const { boxes, edges } = draftOf(tree, operators, 3);
  assert.deepEqual([...boxes.keys()].sort(), ["in", "o1", "o2", "out"]);
  assert.deepEqual([...edges.keys()], ["in\no1", "o1\no2", "o2\nout"]);
});

test("the model's input is outside of an inner module", () => {
  assert.deepEqual([...draftOf(tree, operators, 1).edges.keys()], ["in\no0", "o0\nout"]);
});

test("an edge shows the size of its value", () => {
  const sizes = { at: [0, 1, 2, 0], texts: ["float32[batch=2, 3]", "float32[7], int64[7]", "true"] };
  const all = { ...operators, results: sizes }, inputs = [{ name: "x", origin: "", text: "float32[2, 5]" }];
  const texts = [...draftOf(tree, all, 0).edges.values()].map((edge) => edgeText(edge, all, inputs));
  assert.deepEqual(texts, ["2×5", "batch=2×3", "7", "", "batch=2×3"]);
});

test("boxes do not overlap", () => {
  const { boxes } = laidOut(draftOf(tree, operators, 0));
  for (const a of boxes) for (const b of boxes)
    if (a !== b) assert.ok(Math.abs(a.x - b.x) >= a.width || Math.abs(a.y - b.y) >= a.height);
});

const metric = (title: string, unit: string) => ({ title, unit }) as Metric;
const roof: Series = {
  id: "roofline", title: "roofline of float32 and memory", x_title: "intensity", x_unit: "FLOP/B", y_title: "attainable arithmetic/s",
  y_unit: "FLOP/s", of: [Axis.model, 0], x: [0.5, 8, 64], y: [1e9, 16e9, 16e9],  // 2 GB/s, 16 GFLOP/s
};

test("a ceiling applies to its own pair of metrics and to all in their units", () => {
  const intensity = metric("intensity", "FLOP/B");
  assert.ok(isCeiling(roof, intensity, metric("arithmetic/s", "FLOP/s")));
  assert.ok(!isCeiling(roof, metric("time", "FLOP/B"), metric("arithmetic/s", "FLOP/s")));
  assert.ok(!isCeiling(roof, metric("intensity", "B"), metric("arithmetic/s", "FLOP/s")));
  assert.ok(!isCeiling(roof, intensity, metric("traffic/s", "B/s")));
  assert.ok(!isCeiling({ ...roof, y_unit: "" }, intensity, metric("share", "")));
  assert.ok(!isCeiling({ ...roof, of: [Axis.module, 0] }, intensity, metric("arithmetic/s", "FLOP/s")));
});

test("a ceiling is straight where both scales are logarithmic", () => {
  const near = (a: number | null, b: number) => assert.ok(a !== null && Math.abs(a / b - 1) < 1e-12, `${a}, ${b}`);
  near(valueAt(roof, 0.5), 1e9);
  near(valueAt(roof, 2), 4e9);
  near(valueAt(roof, 8), 16e9);
  near(valueAt(roof, 20), 16e9);
  near(valueAt(roof, 64), 16e9);
  assert.equal(valueAt(roof, 0.4), null);
  assert.equal(valueAt(roof, 65), null);
  assert.equal(valueAt({ x: [0, 10], y: [5, -5] }, 2), 3);
  assert.equal(valueAt({ x: [3], y: [7] }, 3), 7);
  assert.equal(valueAt({ x: [3], y: [7] }, 4), null);
});

test("a chart extends beyond its points to the corners of its ceilings", () => {
  assert.deepEqual(cornersAround([roof], [1, 2]), [0.5, 8, 16]);
  assert.deepEqual(cornersAround([roof], [1, 100]), [0.5, 8, 200]);
  assert.deepEqual(cornersAround([], [1, 100]), []);
  assert.deepEqual(cornersAround([roof], []), []);
});
