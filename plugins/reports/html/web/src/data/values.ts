// The values of one axis: a column of cells per metric, and their numbers for sorting.
import { valueOf, type RawCell } from "./cell";
import type { Values as Raw } from "./raw";

export class Values {
  private readonly columns = new Map<number, RawCell[]>();
  private readonly converted = new Map<number, Float64Array>();

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

  /** NaN where there is no number. */
  numbers(metric: number): Float64Array {
    let numbers = this.converted.get(metric);
    if (!numbers) {
      numbers = Float64Array.from(this.columns.get(metric) ?? [], valueOf);
      this.converted.set(metric, numbers);
    }
    return numbers;
  }
}
