// The details of a number: exact value, convention, provenance, plugin. Shown on hover and focus.
import { aggregationName, betterName, Provenance, provenanceName } from "../data/codes";
import type { RawCell } from "../data/cell";
import type { Metric } from "../data/raw";
import type { Doubt } from "../data/report";
import { exact } from "../format/units";
import { visible } from "../format/text";

export function provenance(metric: Metric): string {
  const kind = provenanceName(metric.provenance);
  return metric.provenance_text ? `${kind}: ${metric.provenance_text}` : kind;
}

/** The details of a metric, for column headings. */
export function aboutMetric(metric: Metric): string {
  const lines = [
    metric.unit && metric.unit !== metric.title ? `${metric.title} [${metric.unit}]` : metric.title,
    metric.description,
    metric.convention && `Convention: ${metric.convention}`,
    `Provenance: ${provenance(metric)}`,
    `A module's value: ${aggregationName(metric.aggregation)}`,
    betterName(metric.better),
    `Plugin: ${metric.plugin}`,
  ];
  return visible(lines.filter(Boolean).join("\n").replaceAll("\n", "\u0000")).replaceAll("␀", "\n");
}

/** The details of one value. */
export function aboutValue(cell: RawCell, metric: Metric, doubt: Doubt): string {
  const bound = {
    none: "",
    bound: "\nA lower bound: operators without a rule are not included",
    assumed: "\nIt rests on an assumption that a warning names",
  }[doubt];
  const missing = metric.provenance === Provenance.unavailable ? `\n${metric.provenance_text}` : "";
  return `${exact(cell, metric, doubt)}${bound}${missing}\n${aboutMetric(metric)}`;
}
