// Families of metrics (data/families.ts) as bars: the values of one row, or their spread over all rows.
import { valueOf } from "../data/cell";
import { families, labelOf, spread, type Family } from "../data/families";
import type { Values } from "../data/values";
import { Bars, type Bar } from "../charts/bars";
import { joined, scaledValue } from "../format/units";
import type { App } from "../state/app";
import { formatOf } from "./axes";
import { aboutMetric, aboutValue } from "./metric_text";

const titleOf = ({ title, unit }: Family) => `${title} [${unit}]`;

export function FamiliesOfRow({ app: { report }, values, row }: { app: App; values: Values; row: number }) {
  const barsOf = ({ metrics }: Family): Bar[] => metrics.flatMap((i) => {
    const metric = report.metrics[i]!, cell = values.cell(i, row), number = valueOf(cell);
    if (!Number.isFinite(number)) return [];
    return [{ label: labelOf(metric), text: joined(scaledValue(cell, metric)), tip: aboutValue(cell, metric, "none"),
              low: Math.min(0, number), high: Math.max(0, number) }];
  });
  const shown = families(report.metrics, values.metrics).map((family) => ({ family, bars: barsOf(family) }))
    .filter(({ bars }) => bars.length > 1);
  return (
    <>
      {shown.map(({ family, bars }) => (
        <figure key={titleOf(family)}><figcaption>{titleOf(family)}</figcaption><Bars label={titleOf(family)} bars={bars} /></figure>))}
    </>
  );
}

export function FamilyCharts({ app: { report }, values, things }: { app: App; values: Values; things: string }) {
  const barsOf = ({ metrics }: Family): Bar[] => metrics.flatMap((i) => {
    const metric = report.metrics[i]!, all = spread(values, i);
    const text = formatOf(metric);
    return all ? [{ ...all, label: labelOf(metric), text: text(all.middle),
                    tip: `5 % ${text(all.low)} · median ${text(all.middle)} · 95 % ${text(all.high)}\n${aboutMetric(metric)}` }] : [];
  });
  const shown = families(report.metrics, values.metrics).map((family) => ({ family, bars: barsOf(family) }))
    .filter(({ bars }) => bars.length > 0);
  return (
    <>
      {shown.map(({ family, bars }) => (
        <section class="chart" key={titleOf(family)}>
          <h2>{titleOf(family)} over all {things}</h2>
          <p class="quiet">bars extend from 5 % to 95 % of the {things}; the median is marked and written beside them</p>
          <Bars label={titleOf(family)} bars={bars} />
        </section>))}
    </>
  );
}
