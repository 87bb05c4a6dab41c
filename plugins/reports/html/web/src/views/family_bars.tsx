// Families of figures (data/families.ts) as bars: those of one row, or their spread over all rows.
import { valueOf } from "../data/cell";
import { families, labelOf, spread, type Family } from "../data/families";
import type { Figures } from "../data/figures";
import { Bars, type Bar } from "../charts/bars";
import { figure, joined } from "../format/units";
import type { App } from "../state/app";
import { formatOf } from "./axes";
import { aboutFigure, aboutMetric } from "./metric_text";

const titleOf = ({ title, unit }: Family) => `${title} [${unit}]`;

export function FamiliesOfRow({ app: { report }, figures, row }: { app: App; figures: Figures; row: number }) {
  const barsOf = ({ metrics }: Family): Bar[] => metrics.flatMap((i) => {
    const metric = report.metrics[i]!, cell = figures.cell(i, row), value = valueOf(cell);
    if (!Number.isFinite(value)) return [];
    return [{ label: labelOf(metric), text: joined(figure(cell, metric)), tip: aboutFigure(cell, metric, "none"),
              low: Math.min(0, value), high: Math.max(0, value) }];
  });
  const shown = families(report.metrics, figures.metrics).map((family) => ({ family, bars: barsOf(family) }))
    .filter(({ bars }) => bars.length > 1);
  return (
    <>
      {shown.map(({ family, bars }) => (
        <figure key={titleOf(family)}><figcaption>{titleOf(family)}</figcaption><Bars label={titleOf(family)} bars={bars} /></figure>))}
    </>
  );
}

export function FamilyCharts({ app: { report }, figures, things }: { app: App; figures: Figures; things: string }) {
  const barsOf = ({ metrics }: Family): Bar[] => metrics.flatMap((i) => {
    const metric = report.metrics[i]!, all = spread(figures, i);
    const text = formatOf(metric);
    return all ? [{ ...all, label: labelOf(metric), text: text(all.middle),
                    tip: `5 % ${text(all.low)} · median ${text(all.middle)} · 95 % ${text(all.high)}\n${aboutMetric(metric)}` }] : [];
  });
  const shown = families(report.metrics, figures.metrics).map((family) => ({ family, bars: barsOf(family) }))
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
