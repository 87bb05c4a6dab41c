// Net ─ stem, blocks ─ (0, 1, 2: identical, each with conv and relu), head
import { ModuleTree } from "page/data/modules";

const names = ["", "stem", "blocks", "0", "conv", "relu", "1", "conv", "relu", "2", "conv", "relu", "head"];
const parent = [-1, 0, 0, 2, 3, 3, 2, 6, 6, 2, 9, 9, 0];
const none = { at: names.map(() => 0), texts: [""] };

export const tree = new ModuleTree({
  name: names, parent, calls: names.map(() => 1), type: { at: names.map((name) => Number(name === "relu")), texts: ["a.b.Conv2d", "ReLU"] },
  text: none, input_size: none, output_size: none, repeats: [[3, 1, 3]],
});
