// The visible rows of the module tree and their order: collapsed, folded, filtered and
// sorted. A row is a module's index, or runRow(first) for a run of identical siblings drawn once.
import type { ModuleTree } from "../data/modules";

/** The row of the run that begins at a module; negative, so that it differs from modules. */
export const runRow = (first: number): number => -first - 1;
export const isRun = (row: number): boolean => row < 0;
/** The module of a row; of a run, its first. */
export const moduleOf = (row: number): number => (row < 0 ? -row - 1 : row);

export interface TreeOptions {
  /** Open rows. An open run shows one of its repetitions. */
  open: ReadonlySet<number>;
  /** Draw runs of identical siblings once. */
  fold: boolean;
  /** First modules of runs of which all repetitions are shown. */
  unfolded: ReadonlySet<number>;
  /** Modules to show, with their ancestors; undefined: all. */
  matches?: Uint8Array | undefined;
  /** Compares siblings; undefined: the model's order. */
  compare?: ((a: number, b: number) => number) | undefined;
  /** One list without a tree. */
  flat: boolean;
}

export interface TreeRows {
  rows: number[];
  levels: number[];
}

class Flattener {
  readonly out: TreeRows = { rows: [], levels: [] };
  private readonly kept: Uint8Array | undefined;

  constructor(private readonly tree: ModuleTree, private readonly options: TreeOptions) {
    this.kept = options.matches && !options.flat ? withAncestors(tree, options.matches) : options.matches;
  }

  list(): TreeRows {
    for (let m = 0; m < this.tree.count; ++m) if (this.isKept(m)) this.put(m, 0);
    if (this.options.compare) this.out.rows.sort(this.options.compare);
    return this.out;
  }

  module(m: number, level: number): void {
    if (!this.isKept(m)) return;
    this.put(m, level);
    if (this.options.matches || this.options.open.has(m)) this.siblings(this.tree.children(m), level + 1);
  }

  private siblings(siblings: readonly number[], level: number): void {
    const { compare, fold, matches } = this.options;
    if (compare) {
      for (const m of [...siblings].sort(compare)) this.module(m, level);
      return;
    }
    for (const row of foldedRows(this.tree, siblings, () => fold && !matches))
      if (isRun(row)) this.run(row, level);
      else this.module(row, level);
  }

  private run(row: number, level: number): void {
    const first = moduleOf(row), members = runMembers(this.tree, first);
    this.put(row, level);
    if (!this.options.open.has(row)) return;
    const shown = this.options.unfolded.has(first) ? members.length : this.tree.runs.get(first)!.window;
    for (const m of members.slice(0, shown)) this.module(m, level + 1);
  }

  private isKept(m: number): boolean {
    return !this.kept || this.kept[m] === 1;
  }
  private put(row: number, level: number): void {
    this.out.rows.push(row);
    this.out.levels.push(level);
  }
}

function withAncestors(tree: ModuleTree, matches: Uint8Array): Uint8Array {
  const kept = matches.slice();
  for (let m = tree.count - 1; m > 0; --m) if (kept[m]) kept[tree.parent(m)] = 1;
  return kept;
}

export function treeRows(tree: ModuleTree, options: TreeOptions): TreeRows {
  const flattener = new Flattener(tree, options);
  if (options.flat) return flattener.list();
  flattener.module(0, 0);
  return flattener.out;
}

/** Siblings, with one row for each folded run. */
export function foldedRows(tree: ModuleTree, siblings: readonly number[], isFolded: (first: number) => boolean): number[] {
  const rows: number[] = [];
  for (let i = 0; i < siblings.length;) {
    const first = siblings[i]!, run = tree.runs.get(first);
    const isWorthIt = run !== undefined && run.window * run.times > run.window + 1 && isFolded(first);
    rows.push(isWorthIt ? runRow(first) : first);
    i += isWorthIt ? run.window * run.times : 1;
  }
  return rows;
}

/** "repeat 4 ×" and "0 … 3", the names of its first and last module. */
export function runText(tree: ModuleTree, row: number): { repeat: string; names: string } {
  const first = moduleOf(row), members = runMembers(tree, first);
  return { repeat: `repeat ${tree.runs.get(first)!.times} ×`, names: `${tree.label(first)} … ${tree.label(members[members.length - 1]!)}` };
}

/** All modules of the run that begins at `first`, over all repetitions. */
export function runMembers(tree: ModuleTree, first: number): readonly number[] {
  const run = tree.runs.get(first), siblings = tree.children(tree.parent(first));
  const at = tree.place[first]!;
  return run ? siblings.slice(at, at + run.window * run.times) : [first];
}

/** Opens levels, beginning at the root, while the rows fit a screen. */
export function firstOpen(tree: ModuleTree, most: number): Set<number> {
  const open = new Set<number>();
  const options = { open, fold: true, unfolded: new Set<number>(), flat: false };
  for (let level = 0; level < 8; ++level) {
    const { rows, levels } = treeRows(tree, options);
    const next = rows.filter((row, i) => levels[i] === level && (isRun(row) || tree.children(row).length > 0));
    if (next.length === 0) break;
    next.forEach((row) => open.add(row));
    if (level > 0 && treeRows(tree, options).rows.length > most) {
      next.forEach((row) => open.delete(row));
      break;
    }
  }
  return open;
}

/** Opens the modules around a module, so that its row is visible. */
export function reveal(tree: ModuleTree, m: number, open: Set<number>, unfolded: Set<number>): void {
  for (const ancestor of tree.ancestors(m)) {
    const parent = tree.parent(ancestor);
    if (ancestor !== m) open.add(ancestor);
    if (parent < 0) continue;
    const siblings = tree.children(parent), at = tree.place[ancestor]!;
    for (const [first, run] of runsOf(tree, siblings)) {
      const begin = tree.place[first]!;
      if (at < begin || at >= begin + run.window * run.times) continue;
      open.add(runRow(first));
      if (at >= begin + run.window) unfolded.add(first);
    }
  }
}

function runsOf(tree: ModuleTree, siblings: readonly number[]) {
  return siblings.flatMap((m) => {
    const run = tree.runs.get(m);
    return run ? [[m, run] as const] : [];
  });
}
