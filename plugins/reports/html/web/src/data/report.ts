// A report as the views read it. Only the summary is decoded at the start; the rest is decoded when needed.
import { Blocks } from "./blocks";
import { Values } from "./values";
import { ModuleTree } from "./modules";
import { Axis } from "./codes";
import type * as Raw from "./raw";

/** A value without some of its parts, or one that rests on an assumption. */
export type Doubt = "none" | "bound" | "assumed";

const byMetric = (rows: number[][]): Map<number, Set<number>> =>
  new Map(rows.map(([metric, ...modules]) => [metric!, new Set(modules)]));

export class Report {
  private readonly parts = new Map<string, Promise<unknown>>();
  private readonly bounds: Map<number, Set<number>>;
  private readonly assumed: Map<number, Set<number>>;

  private constructor(private readonly blocks: Blocks, readonly summary: Raw.Summary) {
    this.bounds = byMetric(summary.lower_bounds);
    this.assumed = byMetric(summary.assumed);
  }

  static async open(page: Document): Promise<Report> {
    const blocks = new Blocks(page);
    return new Report(blocks, await blocks.get<Raw.Summary>("summary"));
  }

  get metrics(): Raw.Metric[] {
    return this.summary.metrics;
  }

  /** The status of a module's value; module 0 is the model. */
  doubtOf(metric: number, module: number): Doubt {
    if (this.assumed.get(metric)?.has(module)) return "assumed";
    return this.bounds.get(metric)?.has(module) ? "bound" : "none";
  }

  modules(): Promise<ModuleTree> {
    return this.part("modules", (raw: Raw.Modules) => new ModuleTree(raw));
  }
  operators(): Promise<Raw.Operators> {
    return this.part("operators", (raw: Raw.Operators) => raw);
  }
  tensors(): Promise<Raw.Tensors> {
    return this.part("tensors", (raw: Raw.Tensors) => raw);
  }
  curves(): Promise<Raw.Curves> {
    return this.part("curves", (raw: Raw.Curves) => raw);
  }
  values(axis: number): Promise<Values> {
    const names: Record<number, string> = {
      [Axis.module]: "module-figures", [Axis.operator]: "operator-figures", [Axis.tensor]: "tensor-figures",
    };
    return this.part(names[axis] ?? "", (raw: Raw.Values) => new Values(raw));
  }

  private part<In, Out>(name: string, make: (raw: In) => Out): Promise<Out> {
    let part = this.parts.get(name);
    if (!part) this.parts.set(name, (part = this.blocks.get<In>(name).then(make)));
    return part as Promise<Out>;
  }
}
