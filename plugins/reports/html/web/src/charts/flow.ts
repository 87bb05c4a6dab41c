// The operators of a module as a graph: its own operators one by one, each call of a module inside as a
// box. (Calls, not modules, because a ReLU that is used three times would connect distant parts of the graph.)
// A module that contains most of the operators is opened; repeats (repeats.ts) are drawn once. dagre computes
// the layout.
import { Graph, layout } from "@dagrejs/dagre";
import type { ModuleTree } from "../data/modules";
import type { Operators } from "../data/raw";
import { withRepeats, withStretches, type Picture, type Repeat } from "./repeats";

export interface Box {
  id: string;
  /** A stretch: consecutive operators. */
  kind: "operator" | "stretch" | "module" | "outside" | "input" | "output";
  /** index of the operator, module, input or output; 0 for outside */
  index: number;
  /** operators it represents */
  operators: number[];
  /** calls of modules it represents as a whole */
  calls: number[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Flow {
  boxes: Box[];
  /** Around the boxes of a repeat. */
  frames: { repeat: Repeat; x: number; y: number; width: number; height: number }[];
  edges: (Edge & { points: { x: number; y: number }[]; x: number; y: number })[];
  width: number;
  height: number;
}

export interface Draft {
  boxes: Map<string, Pick<Box, "id" | "kind" | "index" | "operators" | "calls">>;
  edges: Map<string, Edge>;  // key: "from\nto"
}

export interface Edge {
  from: string;
  to: string;
  /** Operators whose results the edge carries. */
  operators: Set<number>;
  /** Inputs of the model that the edge carries. */
  inputs: Set<number>;
}

export const mostBoxes = 400;
const boxWidth = 214, boxHeight = 44, letter = 6.2;  // pixels; `letter`: a character of a label

export const isEnd = ({ kind }: Pick<Box, "kind">): boolean => kind === "outside" || kind === "input" || kind === "output";

/** The outermost call around an operator inside `module` and the opened modules; -1: the operator is directly in them. */
function callInside(tree: ModuleTree, { call, calls }: Operators, module: number, opened: ReadonlySet<number>, operator: number): number {
  let inside = -1;
  for (let at = call[operator]!; at >= 0; at = calls.parent[at]!) {
    const m = calls.module[at]!;
    if (m === module || opened.has(m) || !tree.contains(module, m)) break;
    inside = at;
  }
  return inside;
}

const nothing: ReadonlySet<number> = new Set();

/** Boxes and edges, without positions. `opened`: modules inside whose operators are drawn one by one, too. */
export function draftOf(tree: ModuleTree, operators: Operators, module: number, opened = nothing): Draft {
  const draft: Draft = { boxes: new Map(), edges: new Map() };
  const idOf = (operator: number): string | undefined => {
    if (!tree.contains(module, operators.module[operator]!)) return undefined;
    const call = callInside(tree, operators, module, opened, operator);
    return call < 0 ? `o${operator}` : `c${call}`;
  };
  const put = (id: string, kind: Box["kind"], index: number, operator?: number) => {
    let box = draft.boxes.get(id);
    if (!box) draft.boxes.set(id, (box = { id, kind, index, operators: [], calls: id.startsWith("c") ? [Number(id.slice(1))] : [] }));
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

const fewBoxes = 12, manyBoxes = 40;

/** The picture of a module. While it has few boxes, the inner module with the most operators is opened. */
export function pictured(tree: ModuleTree, operators: Operators, module: number, fold: boolean): Picture {
  const opened = new Set<number>();
  const draw = () => {
    const draft = draftOf(tree, operators, module, opened);
    if (!fold) return { draft, repeats: [] };
    const once = withRepeats(draft, tree, operators);
    return once.draft.boxes.size > manyBoxes ? withStretches(once) : once;
  };
  for (let shown = draw(); ;) {
    const boxes = [...shown.draft.boxes.values()].filter((box) => !isEnd(box));
    const all = boxes.reduce((sum, box) => sum + box.operators.length, 0), repeated = new Set(shown.repeats.flatMap((repeat) => repeat.boxes));
    const most = boxes.find((box) => box.kind === "module" && !repeated.has(box.id) && box.operators.length > Math.max(1, all / 2));
    if (boxes.length >= fewBoxes || !most || opened.has(most.index)) return shown;
    opened.add(most.index);
    const next = draw();
    if (next.draft.boxes.size > manyBoxes) return shown;
    shown = next;
  }
}

/** `labelOf`: the label of an edge, for which the layout leaves room. */
export function laidOut({ boxes, edges }: Draft, labelOf: (edge: Edge) => string = () => "", repeats: readonly Repeat[] = []): Flow {
  const graph = new Graph({ compound: true });
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 34, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes.values()) graph.setNode(box.id, { width: boxWidth, height: boxHeight });
  for (const edge of edges.values()) {
    const length = labelOf(edge).length;
    graph.setEdge(edge.from, edge.to, length > 0 ? { width: length * letter, height: 14, labelpos: "c" } : {});
  }
  const framed = repeats.filter((repeat) => repeat.boxes.length > 1);
  framed.forEach((repeat, i) => {
    graph.setNode(`f${i}`, {});
    for (const id of repeat.boxes) graph.setParent(id, `f${i}`);
  });
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width, height,
    boxes: [...boxes.values()].map((box) => ({ ...box, ...(graph.node(box.id) as Pick<Box, "x" | "y" | "width" | "height">) })),
    frames: framed.map((repeat, i) => ({ repeat, ...(graph.node(`f${i}`) as Pick<Box, "x" | "y" | "width" | "height">) })),
    edges: graph.edges().map((e) => {
      const { points, x = 0, y = 0 } = graph.edge(e) as { points: { x: number; y: number }[]; x?: number; y?: number };
      return { ...edges.get(`${e.v}\n${e.w}`)!, points, x, y };
    }),
  };
}
