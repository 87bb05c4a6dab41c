import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleTree } from "page/data/modules";
import { tree } from "./sample_tree";

test("every module has a name to show", () => {
  assert.deepEqual([0, 4, 12].map((m) => tree.label(m)), ["Conv2d", "conv", "head"]);
  assert.deepEqual([0, 4, 12].map((m) => tree.title(m)), ["Conv2d", "blocks.0.conv", "head"]);
  const none = { at: [0, 0], texts: [""] };
  // A file of weights states no type of its root; a checkpoint may have an empty key.
  const weights = new ModuleTree({ name: ["", ""], parent: [-1, 0], calls: [0, 0], type: none, text: none, input_size: none, output_size: none, repeats: [] });
  assert.deepEqual([0, 1].map((m) => weights.title(m)), ["(model)", "(no name)"]);
});
