// The figures of one axis: a column of cells per metric, and their numbers for sorting.
import { valueOf, type RawCell } from "./cell";
import type { Figures as Raw } from "./raw";

export class Figures {
  private readonly columns = new Map<number, RawCell[]>();
  private readonly numbers = new Map<number, Float64Array>();

  constructor(raw: Raw) {
    for (const { metric, cells } of raw) this.columns.set(metric, cells);
  }

  /** Indices of the metrics with a column. */
  get metrics(): number[] {
    return [...this.columns.keys()];
  }

  has(metric: number): boolean {
    return this.columns.has(metric);
  }

  cell(metric: number, row: number): RawCell {
    return this.columns.get(metric)?.[row] ?? null;
  }

  /** NaN where there is no figure. */
  values(metric: number): Float64Array {
    let values = this.numbers.get(metric);
    if (!values) {
      values = Float64Array.from(this.columns.get(metric) ?? [], valueOf);
      this.numbers.set(metric, values);
    }
    return values;
  }
}
