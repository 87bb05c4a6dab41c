// The operators of a module as a graph: its own operators one by one, each call of a module inside as a
// box. (A call, not a module: a ReLU that is used three times would tie the graph into knots.) Laid out
// by dagre.
import { Graph, layout } from "@dagrejs/dagre";
import type { ModuleTree } from "../data/modules";
import type { Operators } from "../data/raw";

export interface Box {
  id: string;
  kind: "operator" | "module" | "outside" | "input" | "output";
  /** of the operator, module, input or output; outside, 0 */
  index: number;
  /** operators it stands for */
  operators: number[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Flow {
  boxes: Box[];
  edges: (Edge & { points: { x: number; y: number }[]; x: number; y: number })[];
  width: number;
  height: number;
}

export interface Draft {
  boxes: Map<string, Pick<Box, "id" | "kind" | "index" | "operators">>;
  edges: Map<string, Edge>;  // by "from\nto"
}

export interface Edge {
  from: string;
  to: string;
  /** Operators whose results go along it. */
  operators: Set<number>;
  /** Inputs of the model that do. */
  inputs: Set<number>;
}

export const mostBoxes = 400;
const boxWidth = 190, boxHeight = 44, letter = 6.2;  // pixels; the last of a label

/** The outermost call inside `module` around an operator; -1: it is the module's own. */
function callInside(tree: ModuleTree, { call, calls }: Operators, module: number, operator: number): number {
  let inside = -1;
  for (let at = call[operator]!; at >= 0; at = calls.parent[at]!) {
    const m = calls.module[at]!;
    if (m === module || !tree.contains(module, m)) break;
    inside = at;
  }
  return inside;
}

/** Boxes and edges, without places. */
export function draftOf(tree: ModuleTree, operators: Operators, module: number): Draft {
  const draft: Draft = { boxes: new Map(), edges: new Map() };
  const idOf = (operator: number): string | undefined => {
    if (!tree.contains(module, operators.module[operator]!)) return undefined;
    const call = callInside(tree, operators, module, operator);
    return call < 0 ? `o${operator}` : `c${call}`;
  };
  const put = (id: string, kind: Box["kind"], index: number, operator?: number) => {
    let box = draft.boxes.get(id);
    if (!box) draft.boxes.set(id, (box = { id, kind, index, operators: [] }));
    if (operator !== undefined) box.operators.push(operator);
  };
  const edge = (from: string, to: string): Edge => {
    const key = `${from}\n${to}`;
    let found = draft.edges.get(key);
    if (!found) draft.edges.set(key, (found = { from, to, operators: new Set(), inputs: new Set() }));
    return found;
  };
  operators.module.forEach((_, operator) => {
    const to = idOf(operator);
    if (to?.startsWith("c")) put(to, "module", operators.calls.module[Number(to.slice(1))]!, operator);
    else if (to) put(to, "operator", operator, operator);
    for (const back of operators.back[operator]!) {
      const from = idOf(operator - back);
      if (from === to) continue;  // within a box, or all outside
      if (!from) put("in", "outside", 0);
      if (!to) put("out", "outside", 0);
      edge(from ?? "in", to ?? "out").operators.add(operator - back);
    }
    for (const input of to ? operators.inputs[operator]! : []) {
      const from = module === 0 ? `i${input}` : "in";
      put(from, module === 0 ? "input" : "outside", module === 0 ? input : 0);
      edge(from, to!).inputs.add(input);
    }
  });
  operators.outputs.forEach((producers, output) => {
    for (const producer of producers) {
      const from = idOf(producer), to = module === 0 ? `r${output}` : "out";
      if (!from) continue;
      put(to, module === 0 ? "output" : "outside", module === 0 ? output : 0);
      edge(from, to).operators.add(producer);
    }
  });
  return draft;
}

/** `labelOf`: what is written beside an edge. The layout leaves room. */
export function laidOut({ boxes, edges }: Draft, labelOf: (edge: Edge) => string = () => ""): Flow {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 34, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes.values()) graph.setNode(box.id, { width: boxWidth, height: boxHeight });
  for (const edge of edges.values()) {
    const length = labelOf(edge).length;
    graph.setEdge(edge.from, edge.to, length > 0 ? { width: length * letter, height: 14, labelpos: "c" } : {});
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width, height,
    boxes: [...boxes.values()].map((box) => ({ ...box, ...(graph.node(box.id) as Pick<Box, "x" | "y" | "width" | "height">) })),
    edges: graph.edges().map((e) => {
      const { points, x = 0, y = 0 } = graph.edge(e) as { points: { x: number; y: number }[]; x?: number; y?: number };
      return { ...edges.get(`${e.v}\n${e.w}`)!, points, x, y };
    }),
  };
}
