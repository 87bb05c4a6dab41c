// Areas in proportion to a metric, by d3-hierarchy: an icicle or a treemap of a part of the module tree.
import { hierarchy, partition, treemap, treemapSquarify, type HierarchyNode, type HierarchyRectangularNode } from "d3-hierarchy";
import type { ModuleTree } from "../data/modules";

export interface Tile {
  module: number;
  level: number;  // below the module it is zoomed to
  x: number;
  y: number;
  width: number;
  height: number;
  isLeaf: boolean;  // nothing is drawn inside
}

export interface Picture {
  kind: "icicle" | "treemap";
  width: number;
  height: number;
  /** Levels below the zoomed module that are drawn. */
  levels: number;
}

export const titleHeight = 20;  // of a module in the treemap that has others inside
const smallest = 1.5;  // pixels; narrower tiles are left out

/**
 * What a module's area stands for: its figure, but no less than its parts. (Tied tensors count once
 * in a module and once in each of its parts.)
 */
export function weights(tree: ModuleTree, values: Float64Array): Float64Array {
  const inside = new Float64Array(tree.count), weight = new Float64Array(tree.count);
  for (let m = tree.count - 1; m >= 0; --m) {
    const own = values[m]!;
    weight[m] = Math.max(Number.isFinite(own) && own > 0 ? own : 0, inside[m]!);
    if (m > 0) inside[tree.parent(m)]! += weight[m]!;
  }
  return weight;
}

function part(tree: ModuleTree, weight: Float64Array, zoom: number, picture: Picture): HierarchyNode<number> {
  const { width, height, levels } = picture;
  const whole = weight[zoom]! || 1, depth = tree.depth[zoom]! + levels;
  const least = picture.kind === "icicle" ? smallest / width : (smallest * smallest) / (width * height);
  const drawn = (m: number) => weight[m]! / whole >= least;
  const root = hierarchy(zoom, (m) => (tree.depth[m]! < depth ? tree.children(m).filter(drawn) : []));
  root.each((node) => { (node as { value?: number }).value = weight[node.data]!; });
  return root.sort((a, b) => (picture.kind === "treemap" ? b.value! - a.value! : 0));
}

function laidOut(root: HierarchyNode<number>, { kind, width, height }: Picture): HierarchyRectangularNode<number> {
  if (kind === "icicle") return partition<number>().size([width, height])(root);
  return treemap<number>().size([width, height]).tile(treemapSquarify.ratio(1.4))
    .paddingOuter(2).paddingInner(1).paddingTop(titleHeight).round(true)(root);
}

export function tiles(tree: ModuleTree, weight: Float64Array, zoom: number, picture: Picture): Tile[] {
  if (!(weight[zoom]! > 0)) return [];
  return laidOut(part(tree, weight, zoom, picture), picture).descendants()
    .map((node) => ({
      module: node.data,
      level: node.depth,
      x: node.x0,
      y: node.y0,
      width: node.x1 - node.x0,
      height: node.y1 - node.y0,
      isLeaf: !node.children,
    }))
    .filter((tile) => tile.width >= smallest && tile.height >= smallest);
}
