// Columns of values, and the menu in which they are chosen: every metric of the report, by plugin.
import { Provenance } from "../data/codes";
import type { RawCell } from "../data/cell";
import type { Values } from "../data/values";
import type { Metric } from "../data/raw";
import type { Doubt, Report } from "../data/report";
import type { Column } from "../grid/grid";
import { plain } from "../format/units";
import { Check, Menu } from "./menu";
import { aboutMetric } from "./metric_text";
import { unitWidth, ValueCell } from "./value";

/** Metrics that a table of these values shows by default. */
export function usualMetrics(report: Report, values: Values, ofTensors: boolean): number[] {
  const usual = values.metrics.filter((i) => {
    const metric = report.metrics[i]!;
    return metric.of_tensors === ofTensors && !metric.detail && metric.provenance !== Provenance.unavailable;
  });
  return usual.slice(0, 10);
}

/** In rem: the number with its unit on one line, the title on two. */
function widthOf({ title, unit, unit_kind }: Metric): number {
  const words = Math.max(...title.split(/[\s-]/).map((word) => word.length), title.length / 2 + 2);
  return Math.max(7.4, 0.52 * words + 2.2, 5.2 + unitWidth(unit, unit_kind));
}

export function valueColumn(metric: Metric, cellOf: (row: number) => RawCell,
                            doubtOf: (row: number) => Doubt = () => "none"): Column {
  return {
    key: metric.id,
    title: metric.title,
    tip: aboutMetric(metric),
    width: `${widthOf(metric)}rem`,
    numeric: true,
    cell: (row) => <ValueCell cell={cellOf(row)} metric={metric} doubt={doubtOf(row)} bar />,
    text: (row) => plain(cellOf(row)),
  };
}

export function ColumnMenu({ report, available, shown, onChange }: {
  report: Report; available: number[]; shown: number[]; onChange: (shown: number[]) => void;
}) {
  const plugins = [...new Set(available.map((i) => report.metrics[i]!.plugin))];
  const toggle = (i: number, on: boolean) =>
    onChange(available.filter((other) => (other === i ? on : shown.includes(other))));
  return (
    <Menu label="Columns">
      {plugins.map((plugin) => (
        <fieldset key={plugin}>
          <legend>{plugin}</legend>
          {available.filter((i) => report.metrics[i]!.plugin === plugin).map((i) => (
            <Check key={i} label={report.metrics[i]!.title} checked={shown.includes(i)}
                   tip={aboutMetric(report.metrics[i]!)} onChange={(on) => toggle(i, on)} />
          ))}
        </fieldset>
      ))}
    </Menu>
  );
}
