// One value in a table or a list, with the small marks that distinguish the kinds of "no number".
import { integerOf, kindOf, valueOf, type RawCell } from "../data/cell";
import { Aggregation, UnitKind } from "../data/codes";
import type { Metric } from "../data/raw";
import type { Doubt } from "../data/report";
import { exact, scaledValue } from "../format/units";

interface Props {
  cell: RawCell;
  metric: Metric;
  doubt?: Doubt;
  /** Draws the share of the whole behind the number. */
  bar?: boolean;
}

export function ValueCell({ cell, metric, doubt = "none", bar = false }: Props) {
  const { number, unit } = scaledValue(cell, metric, doubt);
  const kind = kindOf(cell);
  const share = bar ? shareOf(cell, metric) : NaN;
  const quiet = kind !== "number" || valueOf(cell) === 0;
  return (
    <span class={`metric-value${quiet ? " quiet" : ""}${doubt !== "none" || kind === "unknown" ? " uncertain" : ""}`}
          title={exact(cell, metric, doubt)}>
      {share > 0.005 ? <span class="share" style={{ width: `${Math.min(100, 100 * share)}%` }} /> : null}
      <span class="number">{number}</span>
      <span class="unit" style={bar ? { minWidth: `${unitWidth(metric.unit, metric.unit_kind)}rem` } : undefined}>{unit}</span>
    </span>
  );
}

/** In rem, with a prefix. The fixed width aligns the numbers of a column. */
export const unitWidth = (unit: string, kind: number): number =>
  (kind !== UnitKind.other ? 1.8 : unit ? 0.53 * (unit.length + 1) : 0);

/** Of the model's total; NaN where shares mean nothing. */
export function shareOf(cell: RawCell, metric: Metric): number {
  if (metric.aggregation !== Aggregation.sum || kindOf(cell) !== "number") return NaN;
  const digits = integerOf(cell), whole = integerOf(metric.total);
  if (digits !== undefined && whole) return Number(digits) / Number(whole);
  return valueOf(cell) / valueOf(metric.total);
}
