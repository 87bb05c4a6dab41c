// Areas in proportion to a metric, by d3-hierarchy: an icicle or a treemap of a part of the module tree. A tile represents a row
// of the table (grid/tree_rows.ts): a module, or a run of identical siblings that is drawn once.
import { hierarchy, partition, treemap, treemapSquarify, type HierarchyNode, type HierarchyRectangularNode } from "d3-hierarchy";
import type { ModuleTree } from "../data/modules";
import { foldedRows, isRun, moduleOf, runMembers } from "../grid/tree_rows";

export interface Tile {
  row: number;
  /** The row it is drawn in; undefined: the whole picture. */
  inside: number | undefined;
  level: number;  // below the module it is zoomed to
  x: number;
  y: number;
  width: number;
  height: number;
  isLeaf: boolean;  // a tile without inner tiles
  isEach: boolean;  // one module of a run, drawn with the area of the run
}

export interface Picture {
  kind: "icicle" | "treemap";
  width: number;
  height: number;
  /** Levels below the zoomed module that are drawn. */
  levels: number;
  /** Whether the run that begins at a module is drawn once. */
  isFolded: (first: number) => boolean;
}

export const titleHeight = 20;  // height of the title of a module with others inside
const legible = 44;  // pixels of a tile with room for a title and its content
const smallest = 1.5;  // pixels; narrower tiles are left out
const mostTiles = 3000;

/**
 * The weight of a module's area: its value, but at least the sum of its parts. (Tied tensors count once
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

interface Part {
  row: number;
  /** The area as a multiple of the part's own weight: a part of a run represents all repetitions. */
  scale: number;
  level: number;
}

const sum = (weight: Float64Array, modules: readonly number[]): number => modules.reduce((all, m) => all + weight[m]!, 0);

class Parts {
  private readonly least: number;

  constructor(private readonly tree: ModuleTree, private readonly weight: Float64Array, private readonly zoom: number,
              private readonly picture: Picture) {
    const { kind, width, height } = picture;
    const share = kind === "icicle" ? smallest / width : (smallest * smallest) / (width * height);
    const whole = weight[zoom]! || 1;
    const largest = tree.count > mostTiles ? weight.slice().sort().at(-mostTiles)! : 0;
    this.least = Math.max(share * whole, largest);
  }

  root(): HierarchyNode<Part> {
    const root = hierarchy<Part>({ row: this.zoom, scale: 1, level: 0 }, (part) => this.inside(part));
    root.each((node) => { (node as { value?: number }).value = this.area(node.data); });
    return root.sort((a, b) => (this.picture.kind === "treemap" ? b.value! - a.value! : 0));
  }

  private members(row: number): readonly number[] {
    return isRun(row) ? runMembers(this.tree, moduleOf(row)) : [row];
  }
  private area({ row, scale }: Part): number {
    return scale * sum(this.weight, this.members(row));
  }

  private inside({ row, scale, level }: Part): Part[] {
    if (level >= this.picture.levels) return [];
    const parts = isRun(row) ? this.once(row, scale, level)
      : foldedRows(this.tree, this.tree.children(row), this.picture.isFolded).map((inner) => ({ row: inner, scale, level: level + 1 }));
    return parts.filter((part) => this.area(part) >= this.least);
  }

  /** The first repetition of a run, as large as all of them and on the level of the run. */
  private once(row: number, scale: number, level: number): Part[] {
    const members = this.members(row), first = members.slice(0, this.tree.runs.get(moduleOf(row))!.window);
    const times = sum(this.weight, members) / (sum(this.weight, first) || 1);
    return first.map((m) => ({ row: m, scale: scale * times, level }));
  }
}

function laidOut(root: HierarchyNode<Part>, { kind, width, height }: Picture): HierarchyRectangularNode<Part> {
  if (kind === "icicle") return partition<Part>().size([width, height])(root);
  const title = ({ x0, x1, y0, y1 }: HierarchyRectangularNode<Part>) => (x1 - x0 > legible && y1 - y0 > legible ? titleHeight : 2);
  return treemap<Part>().size([width, height]).tile(treemapSquarify.ratio(1.4))
    .paddingOuter(2).paddingInner(1).paddingTop(title).round(true)(root);
}

export function tiles(tree: ModuleTree, weight: Float64Array, zoom: number, picture: Picture): Tile[] {
  if (!(weight[zoom]! > 0)) return [];
  return laidOut(new Parts(tree, weight, zoom, picture).root(), picture).descendants()
    .map((node) => ({
      row: node.data.row,
      inside: node.parent?.data.row,
      level: node.depth,
      x: node.x0,
      y: node.y0,
      width: node.x1 - node.x0,
      height: node.y1 - node.y0,
      isLeaf: !node.children,
      isEach: node.data.scale > 1,
    }))
    .filter((tile) => tile.width >= smallest && tile.height >= smallest);
}
