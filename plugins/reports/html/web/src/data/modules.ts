// The module tree: children, depth, paths, and the runs of identical siblings.
import type { Modules as Raw } from "./raw";
import { textOf } from "./raw";

export interface Run {
  window: number;
  times: number;
}

export class ModuleTree {
  readonly count: number;
  readonly depth: Int32Array;
  /** Size of the subtree including the module itself, which is [m, m + size). */
  readonly size: Int32Array;
  /** Among the children of its parent. */
  readonly place: Int32Array;
  readonly runs = new Map<number, Run>();
  private readonly childLists = new Map<number, number[]>();
  private readonly types: string[];
  private paths: Map<string, number> | undefined;

  constructor(private readonly raw: Raw) {
    this.count = raw.name.length;
    this.depth = new Int32Array(this.count);
    this.place = new Int32Array(this.count);
    this.size = new Int32Array(this.count).fill(1);
    for (let m = 1; m < this.count; ++m) {
      const parent = this.parent(m);
      this.depth[m] = (this.depth[parent] ?? 0) + 1;
      const siblings = this.childLists.get(parent);
      this.place[m] = siblings?.length ?? 0;
      if (siblings) siblings.push(m);
      else this.childLists.set(parent, [m]);
    }
    for (let m = this.count - 1; m > 0; --m) this.size[this.parent(m)]! += this.size[m]!;
    for (const [module, window, times] of raw.repeats) this.runs.set(module, { window, times });
    this.types = raw.type.texts.map((type) => type.slice(type.lastIndexOf(".") + 1));
  }

  /** False for a file of weights, which has no types. */
  get hasTypes(): boolean {
    return this.types.some(Boolean);
  }

  parent(m: number): number {
    return this.raw.parent[m] ?? -1;
  }
  children(m: number): readonly number[] {
    return this.childLists.get(m) ?? [];
  }
  name(m: number): string {
    return this.raw.name[m] ?? "";
  }
  /** Conv2d */
  type(m: number): string {
    return this.types[this.raw.type.at[m] ?? -1] ?? "";
  }
  /** torch.nn.modules.conv.Conv2d */
  qualifiedType(m: number): string {
    return textOf(this.raw.type, m);
  }
  text(m: number): string {
    return textOf(this.raw.text, m);
  }
  inputSize(m: number): string {
    return textOf(this.raw.input_size, m);
  }
  outputSize(m: number): string {
    return textOf(this.raw.output_size, m);
  }
  calls(m: number): number {
    return this.raw.calls[m] ?? 0;
  }

  /** "layer1.0.conv1"; "" for the root. */
  path(m: number): string {
    const names: string[] = [];
    for (let at = m; at > 0; at = this.parent(at)) names.push(this.name(at));
    return names.reverse().join(".");
  }

  /** The name without the path, never empty: the root has the name of its type, or a fixed one for a file of weights. */
  label(m: number): string {
    return this.name(m) || this.type(m) || (m === 0 ? "(model)" : "(no name)");
  }
  /** The path, never empty. */
  title(m: number): string {
    return this.path(m) || this.label(m);
  }

  /** From the root down to the module itself. */
  ancestors(m: number): number[] {
    const chain: number[] = [];
    for (let at = m; at >= 0; at = this.parent(at)) chain.push(at);
    return chain.reverse();
  }

  find(path: string): number | undefined {
    if (!this.paths) {
      this.paths = new Map();
      for (let m = this.count - 1; m >= 0; --m) this.paths.set(this.path(m), m);
    }
    return this.paths.get(path);
  }

  contains(ancestor: number, m: number): boolean {
    return m >= ancestor && m < ancestor + (this.size[ancestor] ?? 1);
  }
}
