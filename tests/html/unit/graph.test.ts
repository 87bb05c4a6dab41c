// Repeats of the operator graph, and modules that it opens by itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, laidOut, pictured } from "page/charts/flow";
import { withRepeats } from "page/charts/repeats";
import type { Operators } from "page/data/raw";
import { tree } from "./sample_tree";

/** Operators by module, call and how far back they read; `names`: theirs and those of their results. */
function operatorsOf(module: number[], call: number[], back: number[][], calls: Operators["calls"], names = module.map(() => "op")): Operators {
  const texts = { at: names.map((name) => [...new Set(names)].indexOf(name)), texts: [...new Set(names)] };
  const none = module.map(() => []);
  return { op: texts, module, call, calls, answers: [], location: texts, arguments: texts, results: texts, back,
           inputs: [[0], ...none.slice(1)], outputs: [[module.length - 1]], tensors: none };
}

// Net: stem, then blocks.0, blocks.1 and blocks.2, then head, each in a call of its own.
const network = operatorsOf([1, 3, 6, 9, 12], [1, 2, 3, 4, 5], [[], [1], [1], [1], [1]], { module: [0, 1, 3, 6, 9, 12], parent: [-1, 0, 0, 0, 0, 0] });

test("equal modules in a row are one box with the operators of all", () => {
  const { draft, repeats } = withRepeats(draftOf(tree, network, 0), tree, network);
  assert.deepEqual(repeats, [{ times: 3, boxes: ["c2"], last: ["c4"] }]);
  assert.deepEqual([...draft.boxes.keys()], ["c1", "i0", "c2", "c5", "r0"]);
  const { operators, calls } = draft.boxes.get("c2")!;
  assert.deepEqual([operators, calls], [[1, 2, 3], [2, 3, 4]]);
  assert.deepEqual([...draft.edges.keys()], ["i0\nc1", "c1\nc2", "c2\nc5", "c5\nr0"]);
});

test("equal operators that read one value, as query, key and value do, stay apart", () => {
  // 1, 2 and 3 read 0; 4 reads all three.
  const parallel = operatorsOf([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [[], [1], [2], [3], [3, 2, 1]], { module: [0], parent: [-1] }, ["in", "linear", "linear", "linear", "out"]);
  assert.deepEqual(withRepeats(draftOf(tree, parallel, 0), tree, parallel).repeats, []);
  const six = operatorsOf(Array(8).fill(0), Array(8).fill(0), [[], ...[1, 2, 3, 4, 5, 6].map((i) => [i]), [1]], { module: [0], parent: [-1] },
    ["in", ...Array(6).fill("expert"), "out"]);
  assert.deepEqual(withRepeats(draftOf(tree, six, 0), tree, six).repeats.map(({ times }) => times), [6], "six experts are");
});

test("several boxes that repeat together have a frame around them, and no edge leads back", () => {
  const names = ["in", ...Array(4).fill(["conv", "norm", "relu"]).flat(), "out"];
  const chain = operatorsOf(names.map(() => 0), names.map(() => 0), names.map((_, i) => (i ? [1] : [])), { module: [0], parent: [-1] }, names);
  const { draft, repeats } = withRepeats(draftOf(tree, chain, 0), tree, chain);
  assert.deepEqual(repeats, [{ times: 4, boxes: ["o1", "o2", "o3"], last: ["o10", "o11", "o12"] }]);
  assert.deepEqual([...draft.edges.keys()], ["i0\no0", "o0\no1", "o1\no2", "o2\no3", "o3\no13", "o13\nr0"]);
  const { frames: [frame], boxes } = laidOut(draft, () => "", repeats);
  const isInside = (id: string) => {
    const box = boxes.find((each) => each.id === id)!;
    return Math.abs(box.x - frame!.x) + box.width / 2 <= frame!.width / 2 && Math.abs(box.y - frame!.y) + box.height / 2 <= frame!.height / 2;
  };
  assert.deepEqual(["o0", "o1", "o2", "o3", "o13"].map(isInside), [false, true, true, true, false]);
});

test("operators in a row are one box if there are many boxes", () => {
  const kinds = Array.from({ length: 45 }, (_, i) => `mask${i}`);
  const long = operatorsOf([...kinds.map(() => 0), 1, 0], [...kinds.map(() => 0), 1, 0], [[], ...kinds.map(() => [1]), [1]], { module: [0, 1], parent: [-1, 0] }, [...kinds, "stem", "end"]);
  const { draft } = pictured(tree, long, 0, true);
  assert.deepEqual([...draft.boxes].map(([id, { kind, operators }]) => [id, kind, operators.length]),
                   [["o0", "stretch", 45], ["i0", "input", 0], ["c1", "module", 1], ["o46", "operator", 1], ["r0", "output", 0]]);
  assert.deepEqual([...draft.edges.keys()], ["i0\no0", "o0\nc1", "c1\no46", "o46\nr0"]);
});

test("a module that holds nearly everything is opened", () => {
  // The model calls only blocks, which calls its three blocks.
  const wrapped = operatorsOf([3, 6, 9], [2, 3, 4], [[], [1], [1]], { module: [0, 2, 3, 6, 9], parent: [-1, 0, 1, 1, 1] });
  const ids = (fold: boolean) => [...pictured(tree, wrapped, 0, fold).draft.boxes.keys()];
  assert.deepEqual([...draftOf(tree, wrapped, 0).boxes.keys()], ["c1", "i0", "r0"]);
  assert.deepEqual(ids(false), ["c2", "i0", "c3", "c4", "r0"]);
  assert.deepEqual(ids(true), ["c2", "i0", "r0"]);
});
