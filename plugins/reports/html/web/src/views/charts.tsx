// Charts of the report's data: cost against size, curves of plugins, values over the operators in the
// order they run, and one metric of operators against another (scatter.tsx). A chart without data is left
// out.
import { useMemo, useState } from "preact/hooks";
import { isCeiling } from "../charts/ceilings";
import { aligned, spansDecades } from "../charts/curves";
import { arranged, byMeaning, familyTitle, type Folded } from "../charts/series_groups";
import { Plot, type Curve } from "../charts/plot";
import { Aggregation, Axis } from "../data/codes";
import { integerOf, valueOf } from "../data/cell";
import { families } from "../data/families";
import type { Operators, RawCount, Series, Target } from "../data/raw";
import { joined, kindOfUnit, scaled, takesPrefix } from "../format/units";
import { shortened } from "../format/text";
import { useApp, type App } from "../state/app";
import { useLoaded } from "../state/load";
import { formatOf, isBytes } from "./axes";
import { FamilyCharts } from "./family_bars";
import { Choice } from "./menu";
import { nameOf, useNamesOf } from "./names";
import { useOperators, type OperatorData } from "./operator_table";
import { Scatter, usualAxes } from "./scatter";

export const hasCharts = (app: App): boolean => {
  const { sweep, counts } = app.report.summary;
  return sweep !== null || counts.series > 0 || counts.operators > 1 || hasFamilies(app);
};

const hasFamilies = ({ report: { metrics } }: App): boolean =>
  families(metrics, metrics.map((_, i) => i).filter((i) => metrics[i]!.axis === Axis.tensor)).length > 0;

function TensorFamilies({ app }: { app: App }) {
  const values = useLoaded(() => app.report.values(Axis.tensor), [app.report]);
  return values ? <FamilyCharts app={app} values={values} things="tensors" /> : null;
}

const lineColors = 8, dashes = [[], [8, 4], [2, 3]];

/** 24 different lines: they differ in colour, then in dashes. */
const lineStyle = (i: number): Pick<Curve, "color" | "dash"> => (
  { color: `var(--kind-${i % lineColors})`, dash: dashes[Math.floor(i / lineColors) % dashes.length]! });

const none: Series[] = [];

export function Charts() {
  const app = useApp();
  const data = useOperators(app);
  const { sweep, counts } = app.report.summary;
  const series = useLoaded(async () => (counts.series > 0 ? (await app.report.curves()).series : none), [app.report]) ?? none;
  const axes = useMemo(() => data && usualAxes(app, data, series), [data, series]);
  const picture = data && axes ? <Scatter key={series.length} app={app} {...data} series={series} axes={axes} /> : null;
  const [roofline, scatter] = axes?.isRoofline ? [picture, null] : [null, picture];
  return (
    <div class="charts">
      {roofline}
      {sweep ? <SweepChart app={app} /> : null}
      <SeriesCharts app={app} all={series} />
      {hasFamilies(app) ? <TensorFamilies app={app} /> : null}
      {data && hasValues(data) ? <OverOperators app={app} {...data} /> : null}
      {scatter}
    </div>
  );
}

const hasNumbers = ({ values }: OperatorData) => (i: number): boolean => values.numbers(i).some(Number.isFinite);
const hasValues = (data: OperatorData): boolean => data.values.metrics.some(hasNumbers(data));

const numberOf = (count: RawCount): number => Number(integerOf(count) ?? 0n);

/** Totals for other sizes. With two symbols, the first is x, and each value of the second is a curve. */
function SweepChart({ app: { report } }: { app: App }) {
  const sweep = report.summary.sweep!;
  const possible = report.metrics.map((_, i) => i)
    .filter((i) => sweep.totals[i]?.some((cell) => valueOf(cell) > 0));
  const [metric, setMetric] = useState(possible[0] ?? 0);
  const about = report.metrics[metric]!;
  const names = sweep.symbols.map((i) => report.summary.symbols[i]?.name ?? "size");
  const chart = useMemo(() => {
    const groups = new Map<number, { x: number[]; y: number[] }>();
    sweep.points.forEach((point, p) => {
      const value = valueOf(sweep.totals[metric]?.[p]);
      if (Number.isNaN(value)) return;
      const group = numberOf(point[1] ?? 0);
      if (!groups.has(group)) groups.set(group, { x: [], y: [] });
      groups.get(group)!.x.push(numberOf(point[0]!));
      groups.get(group)!.y.push(value);
    });
    const { x, y } = aligned([...groups.values()]);
    const curves: Curve[] = [...groups.keys()].map((group, i) => ({
      title: names[1] ? `${names[1]} = ${group}` : about.title, y: y[i]!, ...lineStyle(i),
    }));
    return { x, curves };
  }, [metric]);
  if (possible.length === 0) return null;
  return (
    <section class="chart">
      <h2>Cost against size</h2>
      <Choice label="Metric" value={metric} onChange={setMetric}
              options={possible.map((i) => [i, report.metrics[i]!.title] as const)} />
      <Plot label={`${about.title} against ${names[0]}`} {...chart} xTitle={names[0] ?? ""} yTitle={about.title}
            height={280} logX={spansDecades(chart.x)} formatY={formatOf(about)} bytesY={isBytes(about)} />
    </section>
  );
}

/** Series with the same meaning share a chart. Ceilings of the values of operators have no chart of their own. */
function SeriesCharts({ app, all }: { app: App; all: Series[] }) {
  const { single, folded } = useMemo(() => {
    const ofOperators = app.report.metrics.filter(({ axis }) => axis === Axis.operator);
    const isBehind = (s: Series) => ofOperators.some((x) => ofOperators.some((y) => isCeiling(s, x, y)));
    return arranged(byMeaning(all.filter((each) => !isBehind(each))));
  }, [all]);
  return (
    <>
      {single.map((group, i) => <SeriesGroup key={i} app={app} group={group} />)}
      {folded.map((group) => <FoldedCharts key={group.over} app={app} {...group} />)}
    </>
  );
}

function FoldedCharts({ app, over, charts }: { app: App } & Folded) {
  const [open, setOpen] = useState(false);
  return (
    <details class="chart-group" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary><h2>{charts.length} curves over {over || "one quantity"}</h2>{" "}
        <span class="quiet">{shortened(charts.map(([first]) => first!.title || first!.id).join(", "), 200)}</span></summary>
      {open ? <div class="charts">{charts.map((group, i) => <SeriesGroup key={i} app={app} group={group} />)}</div> : null}
    </details>
  );
}

/** The capacity that y is compared with. */
function limitOf({ report }: App, { y_title, y_unit }: Series): { title: string; value: number } | undefined {
  const metric = report.metrics.find((m) => m.bar === "capacity" && m.title === y_title && m.unit === y_unit);
  const value = valueOf(metric?.total);
  return metric && value > 0 ? { title: `available ${metric.title}`, value } : undefined;
}

/** The same as a table, in which values above the limit are marked. */
function FamilyTable({ group, limit }: { group: Series[]; limit?: number }) {
  const { x, y } = aligned(group), first = group[0]!;
  const text = takesPrefix(first.y_unit) ? textWith(first.y_unit) : (v: number) => (v < 10 ? v.toPrecision(3) : Math.round(v).toLocaleString("en"));
  const cell = (v: number | null) =>
    (v === null ? <td>–</td> : limit !== undefined && v > limit ? <td class="uncertain">{text(v)} ✕</td> : <td>{text(v)}</td>);
  return (
    <details class="curve-table">
      <summary>as a table{limit === undefined ? "" : "; ✕: more than available"}</summary>
      <table>
        <thead><tr><th scope="col">{titleWith(first.x_title, first.x_unit)}</th>
          {group.map((s) => <th key={s.id} scope="col">{Number(/\d+$/.exec(s.id)![0]).toLocaleString("en")}</th>)}</tr></thead>
        <tbody>{x.map((at, i) => (
          <tr key={at}><th scope="row">{at.toLocaleString("en")}</th>{y.map((curve) => cell(curve[i]!))}</tr>
        ))}</tbody>
      </table>
    </details>
  );
}

const mostCurves = 24, mostRows = 64;

/** A curve of the whole model has the name of its y axis, because "model" would add nothing. */
const curveName = (app: App, { of, y_title }: Series, operators: Operators | undefined): string =>
  (of[0] === Axis.model ? y_title : nameOf(app, of, operators));

function SeriesGroup({ app, group }: { app: App; group: Series[] }) {
  const first = group[0]!, family = familyTitle(group), limit = family ? limitOf(app, first) : undefined;
  const isSelected = ([axis, index]: Target) => app.selection !== undefined && app.selection.index === index &&
    { module: Axis.module, operator: Axis.operator, tensor: Axis.tensor }[app.selection.kind] === axis;
  const shown = useMemo(() => {
    const chosen = group.slice(0, mostCurves);
    const wanted = group.find((s) => isSelected(s.of));
    return wanted && !chosen.includes(wanted) ? [wanted, ...chosen.slice(1)] : chosen;
  }, [group, app.selection]);
  const operators = useNamesOf(shown.map((s) => s.of));
  const chart = useMemo(() => {
    const { x, y } = aligned(shown);
    const curves: Curve[] = shown.map((s, i) => ({ title: shortened(family ? s.title : curveName(app, s, operators), 40), y: y[i]!, ...lineStyle(i) }));
    if (limit) curves.push({ title: limit.title, y: x.map(() => limit.value), color: "var(--warning)", kind: "ceiling" });
    return { x, curves };
  }, [shown, operators]);
  return (
    <section class="chart">
      <h2>{family ?? (first.title || first.id)}</h2>
      {group.length > shown.length
        ? <p class="quiet">{shown.length} of {group.length}; those of a selected row are shown in its details</p> : null}
      <SeriesPlot series={first} chart={chart} height={280} isFamily={family !== undefined} />
      {family && chart.x.length <= mostRows ? <FamilyTable group={shown} {...(limit ? { limit: limit.value } : {})} /> : null}
    </section>
  );
}

/** Units that take prefixes are written beside each value, others beside the title. */
const titleWith = (title: string, unit: string) => (unit && !takesPrefix(unit) ? `${title} [${unit}]` : title);
const textWith = (unit: string) => (v: number) => joined(scaled(v, kindOfUnit(unit), unit));

const valuesOf = (curves: Curve[]) => curves.flatMap(({ y }) => y.filter((v): v is number => v !== null));

export function SeriesPlot({ series, chart, height, isFamily }: {
  series: Series; chart: { x: number[]; curves: Curve[] }; height: number; isFamily?: boolean;
}) {
  return <Plot label={`${series.title}: ${series.y_title} over ${series.x_title}`} {...chart} height={height}
               logX={spansDecades(chart.x)} logY={isFamily === true && spansDecades(valuesOf(chart.curves))}
               xTitle={titleWith(series.x_title, series.x_unit)} yTitle={titleWith(series.y_title, series.y_unit)}
               {...(takesPrefix(series.x_unit) ? { formatX: textWith(series.x_unit), bytesX: series.x_unit === "B" } : {})}
               {...(takesPrefix(series.y_unit) ? { formatY: textWith(series.y_unit), bytesY: series.y_unit === "B" } : {})} />;
}

/** The first choice is a metric that is rolled up by its maximum, because a peak is best seen in its course. */
function OverOperators({ app, operators, values }: OperatorData & { app: App }) {
  const { report } = app;
  const usable = useMemo(() => values.metrics.filter(hasNumbers({ operators, values })), [values]);
  const peak = usable.find((i) => report.metrics[i]!.aggregation === Aggregation.max);
  const [metric, setMetric] = useState(peak ?? usable[0]!);
  const about = report.metrics[metric]!;
  const chart = useMemo(() => {
    const numbers = [...values.numbers(metric)].map((v) => (Number.isFinite(v) ? v : null));
    const curves: Curve[] = [{ title: about.title, y: numbers, color: "var(--accent)", kind: "steps" }];
    return { x: numbers.map((_, i) => i), curves };
  }, [metric]);
  const marked = report.summary.findings.flatMap((finding) => finding.targets
    .filter(([axis]) => axis === Axis.operator).slice(0, 1).map(([, index]) => ({ finding, index })));
  const marks = useMemo(() => marked.slice(0, 6).map(({ finding, index }) => ({ x: index, title: finding.text })), []);
  return (
    <section class="chart">
      <h2>Over the operators, in the order they run</h2>
      <Choice label="Metric" value={metric} onChange={setMetric}
              options={usable.map((i) => [i, report.metrics[i]!.title] as const)} />
      <Plot label={`${about.title} of every operator call`} {...chart} xTitle="operator call" yTitle={about.title}
            height={260} formatY={formatOf(about)} bytesY={isBytes(about)} marks={marks}
            onPick={(index) => app.update({ selection: { kind: "operator", index } })} />
      {marked.slice(0, 6).map(({ finding, index }) => (
        <p class="mark" key={index}>
          <button type="button" class="link" onClick={() => app.jump({ kind: "operator", index })}>
            {shortened(nameOf(app, [Axis.operator, index], operators), 80)}</button>{" "}
          {finding.text}. <span class="quiet">{finding.evidence}</span>
        </p>
      ))}
    </section>
  );
}
