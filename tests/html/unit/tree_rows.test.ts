// The visible rows of the tree.
import assert from "node:assert/strict";
import { test } from "node:test";
import { firstOpen, reveal, runMembers, runRow, treeRows, type TreeOptions } from "page/grid/tree_rows";
import { tree } from "./sample_tree";

const options = (change: Partial<TreeOptions> = {}): TreeOptions =>
  ({ open: new Set([0]), fold: true, unfolded: new Set(), flat: false, ...change });

test("the tree has paths, depths and subtrees", () => {
  assert.equal(tree.path(7), "blocks.1.conv");
  assert.equal(tree.find("blocks.1.conv"), 7);
  assert.equal(tree.find("nowhere"), undefined);
  assert.equal(tree.type(0), "Conv2d");
  assert.deepEqual([...tree.size], [13, 1, 10, 3, 1, 1, 3, 1, 1, 3, 1, 1, 1]);
  assert.ok(tree.contains(2, 11) && !tree.contains(2, 12));
});

test("only children of open rows are shown", () => {
  assert.deepEqual(treeRows(tree, options()).rows, [0, 1, 2, 12]);
  assert.deepEqual(treeRows(tree, options({ open: new Set() })).rows, [0]);
});

test("repeats are one row that opens to one repetition", () => {
  const run = runRow(3);
  assert.deepEqual(treeRows(tree, options({ open: new Set([0, 2]) })).rows, [0, 1, 2, run, 12]);
  const opened = treeRows(tree, options({ open: new Set([0, 2, run, 3]) }));
  assert.deepEqual(opened.rows, [0, 1, 2, run, 3, 4, 5, 12]);
  assert.deepEqual(opened.levels, [0, 1, 1, 2, 3, 4, 4, 1]);
  assert.deepEqual(runMembers(tree, 3), [3, 6, 9]);
  assert.deepEqual(treeRows(tree, options({ open: new Set([0, 2]), fold: false })).rows, [0, 1, 2, 3, 6, 9, 12]);
});

test("the target of a jump is visible, even inside a folded repetition", () => {
  const open = new Set([0]), unfolded = new Set<number>();
  reveal(tree, 10, open, unfolded);
  assert.ok(treeRows(tree, options({ open, unfolded })).rows.includes(10));
});

test("a search keeps the surroundings of a match, and a flat list does not", () => {
  const matches = new Uint8Array(tree.count);
  matches[7] = 1;
  assert.deepEqual(treeRows(tree, options({ matches, open: new Set() })).rows, [0, 2, 6, 7]);
  assert.deepEqual(treeRows(tree, options({ matches, flat: true })).rows, [7]);
});

test("sorting sorts siblings, or the whole list when it is flat", () => {
  const compare = (a: number, b: number) => b - a;
  assert.deepEqual(treeRows(tree, options({ compare })).rows, [0, 12, 2, 1]);
  assert.deepEqual(treeRows(tree, options({ compare, flat: true })).rows.slice(0, 3), [12, 11, 10]);
});

test("as many levels are open at first as fit", () => {
  const rowsAt = (most: number) => treeRows(tree, options({ open: firstOpen(tree, most) })).rows.length;
  assert.equal(rowsAt(4), 4);
  assert.equal(rowsAt(100), 8);
});
