// Colours by kind of module or operator, equal in every view: one for each of the most frequent kinds, one for
// all others. style/tokens.css defines them.
import type { ModuleTree } from "../data/modules";

const palette = 9; // colours of frequent kinds

function ranks(names: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const frequent = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return new Map(frequent.slice(0, palette).map(([name], rank) => [name, rank]));
}

const ofTypes = new WeakMap<ModuleTree, Map<string, number>>();
const ofOperators = new WeakMap<readonly string[], Map<string, number>>();

const color = (rank: number | undefined) => `var(--kind-${rank ?? "other"})`;

export function typeColor(tree: ModuleTree, m: number): string {
  if (tree.children(m).length > 0) return "var(--kind-container)";
  let types = ofTypes.get(tree);
  if (!types) {
    const leaves = Array.from({ length: tree.count }, (_, i) => i).filter((i) => tree.children(i).length === 0);
    ofTypes.set(tree, (types = ranks(leaves.map((i) => tree.type(i)))));
  }
  return color(types.get(tree.type(m)));
}

/** `names`: of all operator calls. Ranks are cached by this array. */
export function operatorColor(names: readonly string[], name: string): string {
  let operators = ofOperators.get(names);
  if (!operators) ofOperators.set(names, (operators = ranks(names)));
  return color(operators.get(name));
}

/** `share`: of the largest value, 0 … 1. */
export const heat = (share: number): string =>
  `color-mix(in oklab, var(--heat-high) ${(100 * Math.sqrt(Math.max(0, Math.min(1, share)))).toFixed(0)}%, var(--heat-low))`;
