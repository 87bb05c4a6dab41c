// Repeated boxes of the operator graph are drawn once: twelve equal layers become one. Boxes are in execution order, so
// merging the boxes of a stretch creates no cycle.
import type { ModuleTree } from "../data/modules";
import { textOf, type Operators } from "../data/raw";
import { isEnd, type Draft, type Edge } from "./flow";

export interface Repeat {
  times: number;
  /** Ids of the boxes of the first repetition, which are drawn. */
  boxes: string[];
  /** For each, the id of its box in the last repetition. */
  last: string[];
}

const longestWindow = 32;  // boxes that repeat together
const fewestParallel = 4;  // repetitions without data flow between them, such as experts; query, key and value stay apart

export interface Picture {
  draft: Draft;
  repeats: Repeat[];
}

interface Stretch {
  start: number;
  window: number;
  times: number;
}

/** The longest repeat that begins at a box. As in the table of modules, two repetitions of one box do not count. */
function stretchAt(kinds: readonly string[], start: number): Stretch | undefined {
  let best: Stretch | undefined;
  for (let window = 1; window <= Math.min(longestWindow, (kinds.length - start) / 2); ++window) {
    let end = start + window;
    while (end < kinds.length && kinds[end] === kinds[end - window]) ++end;
    const times = Math.floor((end - start) / window);
    if (times > 1 && times * window > window + 1 && (!best || times * window > best.times * best.window)) best = { start, window, times };
  }
  return best;
}

const structures = new WeakMap<ModuleTree, Int32Array>();

/** Modules with the same number have the same type, settings and contents. */
function structureOf(tree: ModuleTree): Int32Array {
  let ids = structures.get(tree);
  if (ids) return ids;
  ids = new Int32Array(tree.count);
  const known = new Map<string, number>();
  for (let m = tree.count - 1; m >= 0; --m) {
    const key = [tree.qualifiedType(m), tree.text(m), ...tree.children(m).map((c) => `${tree.name(c)} ${ids![c]}`)].join("\u0000");
    if (!known.has(key)) known.set(key, known.size);
    ids[m] = known.get(key)!;
  }
  structures.set(tree, ids);
  return ids;
}

/** The draft with each repeat drawn once. Its boxes represent the operators of all repetitions. */
export function withRepeats(draft: Draft, tree: ModuleTree, operators: Operators): Picture {
  const structure = structureOf(tree);
  const order = [...draft.boxes.values()].filter((box) => !isEnd(box));
  const kinds = order.map(({ kind, index, operators: own }) => (kind === "module" ? `m${structure[index]} ${own.length}`
    : `${textOf(operators.op, index)} ${textOf(operators.results, index)}`));
  const place = new Map(order.map(({ id }, i) => [id, i]));
  const follows = new Set([...draft.edges.values()].map(({ from, to }) => `${place.get(from)} ${place.get(to)}`));

  /** Whether each repetition passes a value to the next. */
  const isChain = ({ start, window, times }: Stretch): boolean => {
    const at = (repetition: number) => Array.from({ length: window }, (_, i) => start + repetition * window + i);
    return Array.from({ length: times - 1 }, (_, r) => r).every((r) => at(r).some((a) => at(r + 1).some((b) => follows.has(`${a} ${b}`))));
  };
  const drawnAs = new Map<string, Place>();
  const repeats: Repeat[] = [];
  for (let i = 0; i < order.length;) {
    const found = stretchAt(kinds, i);
    if (!found || !(found.times >= fewestParallel || isChain(found))) { ++i; continue; }
    const { window, times } = found, ids = order.slice(i, i + window * times).map(({ id }) => id);
    ids.forEach((id, k) => drawnAs.set(id, { id: ids[k % window]!, repeat: repeats.length, repetition: Math.floor(k / window) }));
    repeats.push({ times, boxes: ids.slice(0, window), last: ids.slice(-window) });
    i += window * times;
  }
  if (repeats.length === 0) return { draft, repeats };

  return { draft: redrawn(draft, drawnAs), repeats };
}

/** The place of a box of the draft. */
interface Place {
  id: string;
  repeat: number;
  repetition: number;
}

/** Merges boxes with the same place, and leaves out edges between repetitions. */
function redrawn(draft: Draft, places: ReadonlyMap<string, Place>): Draft {
  const out: Draft = { boxes: new Map(), edges: new Map() };
  for (const box of draft.boxes.values()) {
    const id = places.get(box.id)?.id ?? box.id, drawn = out.boxes.get(id);
    if (!drawn) out.boxes.set(id, { ...box, id, operators: [...box.operators], calls: [...box.calls] });
    else {
      for (const operator of box.operators) drawn.operators.push(operator);
      drawn.calls.push(...box.calls);
    }
  }
  for (const edge of draft.edges.values()) {
    const from = places.get(edge.from), to = places.get(edge.to);
    if (from && to && from.repeat === to.repeat && (from.id === to.id || from.repetition !== to.repetition)) continue;
    const drawn: Edge = { ...edge, from: from?.id ?? edge.from, to: to?.id ?? edge.to }, key = `${drawn.from}\n${drawn.to}`;
    if (!out.edges.has(key)) out.edges.set(key, drawn);
  }
  return out;
}

const shortestStretch = 5;

/** Draws the operators between two modules as one box, because a mask alone takes dozens. */
export function withStretches({ draft, repeats }: Picture): Picture {
  const order = [...draft.boxes.values()].filter((box) => !isEnd(box)), repeated = new Set(repeats.flatMap((repeat) => repeat.boxes));
  const isPlain = (i: number) => order[i]?.kind === "operator" && !repeated.has(order[i].id);
  const places = new Map<string, Place>(), firsts: string[] = [];
  for (let i = 0, end = 0; i < order.length; i = Math.max(i + 1, end)) {
    for (end = i; isPlain(end);) ++end;
    if (end - i < shortestStretch) continue;
    for (const { id } of order.slice(i, end)) places.set(id, { id: order[i]!.id, repeat: firsts.length, repetition: 0 });
    firsts.push(order[i]!.id);
  }
  const out = redrawn(draft, places);
  for (const id of firsts) out.boxes.get(id)!.kind = "stretch";
  return { draft: out, repeats };
}
