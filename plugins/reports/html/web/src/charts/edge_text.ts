// The text beside an edge of the operator graph: the size of its tensor.
import { textOf, type Operators, type Summary } from "../data/raw";
import { shortened } from "../format/text";
import type { Edge } from "./flow";

/** "1×64×56×56" of "float32[1, 64, 56, 56]"; a symbol with its value stays "batch=2". */
export function sizeOf(text: string): string {
  const inside = /\[([^[\]]*)\]/.exec(text)?.[1];
  return inside === undefined ? "" : inside.replaceAll(", ", "×");
}

/** The size of the value; for several, the size of the first and the number of the others. */
export function edgeText(edge: Edge, operators: Operators, inputs: Summary["inputs"]): string {
  const texts = [...[...edge.inputs].map((i) => inputs[i]?.text ?? ""), ...[...edge.operators].map((i) => textOf(operators.results, i))];
  const first = texts.map(sizeOf).find(Boolean);
  if (!first) return "";
  return texts.length > 1 ? `${shortened(first, 30)} and ${texts.length - 1} more` : shortened(first, 30);
}
