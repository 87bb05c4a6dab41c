// Values that plugins give for module calls as a whole. Operators inside have no values of their own ("^"), so
// sums over operators include these values.
import type { RawCell } from "./cell";
import type { Operators } from "./raw";

export class Answers {
  private readonly cells = new Map<number, Map<number, RawCell>>();

  constructor(private readonly operators: Pick<Operators, "answers" | "calls">) {
    for (const [call, metric, cell] of operators.answers) {
      const own = this.cells.get(call);
      if (own) own.set(metric, cell);
      else this.cells.set(call, new Map([[metric, cell]]));
    }
  }

  /** The calls with such values, in order. */
  get calls(): number[] {
    return [...this.cells.keys()];
  }

  cell(call: number, metric: number): RawCell {
    return this.cells.get(call)?.get(metric) ?? null;
  }

  /** Values of a call itself and of its inner calls. */
  inside(call: number, metric: number): RawCell[] {
    return this.calls.filter((c) => this.isInside(c, call)).map((c) => this.cell(c, metric));
  }

  private isInside(call: number, outer: number): boolean {
    let at = call;
    while (at >= 0 && at !== outer) at = this.operators.calls.parent[at]!;
    return at >= 0;
  }
}
