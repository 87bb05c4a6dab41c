// One metric of operators against another: an intensity and a rate make a roofline plot.
import { useMemo, useState } from "preact/hooks";
import { cornersAround, isCeiling, valueAt } from "../charts/ceilings";
import { Plot, type Curve } from "../charts/plot";
import { Provenance } from "../data/codes";
import type { Operators, Series } from "../data/raw";
import { shortened } from "../format/text";
import type { App } from "../state/app";
import { formatOf, isBytes } from "./axes";
import { operatorColor } from "./colors";
import { Choice } from "./menu";
import { namesOf, type OperatorData } from "./operator_table";

export interface Axes {
  x: number;
  y: number;
  /** Curves of a plugin are drawn behind the points. */
  isRoofline: boolean;
}

/**
 * The initial pair of metrics of operators: preferably one with ceilings, then an intensity with a rate, measured rates first.
 * Undefined: no operator has two values above 0.
 */
export function usualAxes({ report: { metrics } }: App, { values }: OperatorData, series: Series[]): Axes | undefined {
  const all = values.metrics;
  const rank = (x: number, y: number): number => {
    const [across, up] = [metrics[x]!, metrics[y]!];
    const isRate = /\/s$/.test(up.unit);
    return (isRate && series.some((s) => isCeiling(s, across, up)) ? 32 : 0) + (/\/B$/.test(across.unit) ? 16 : 0) +
      (isRate ? 8 : 0) + (isRate && up.provenance === Provenance.measured ? 4 : 0) + (isBytes(across) ? 2 : 0) + (up.detail ? 0 : 1);
  };
  const pairs = all.flatMap((x) => all.filter((y) => y !== x).map((y) => ({ x, y, rank: rank(x, y) })))
    .sort((a, b) => b.rank - a.rank);
  const found = pairs.find(({ x, y }) => hasBoth(values.numbers(x), values.numbers(y)));
  return found && { x: found.x, y: found.y,
                    isRoofline: series.some((s) => isCeiling(s, metrics[found.x]!, metrics[found.y]!)) };
}

const hasBoth = (across: Float64Array, up: Float64Array): boolean => across.some((v, i) => v > 0 && up[i]! > 0);

/** Each operator call as a point, and the ceilings of its values as lines. */
export function Scatter({ app, operators, values, series, axes }: OperatorData & { app: App; series: Series[]; axes: Axes }) {
  const { metrics } = app.report;
  const [x, setX] = useState(axes.x);
  const [y, setY] = useState(axes.y);
  const options = values.metrics.map((i) => [i, metrics[i]!.title] as const);
  const [across, up] = [metrics[x]!, metrics[y]!];
  const ceilings = useMemo(() => series.filter((s) => isCeiling(s, across, up)), [x, y, series]);
  const chart = useMemo(() => scatterCurves(operators, values.numbers(x), values.numbers(y), ceilings), [x, y, ceilings]);
  const pick = (row: number) => {
    const index = chart.operators[row];
    if (index !== undefined) app.update({ selection: { kind: "operator", index } });
  };
  return (
    <section class="chart">
      <h2>{ceilings.length > 0 ? `Roofline: ${up.title} against ${across.title}` : "Operator calls, one metric against another"}</h2>
      <Choice label="x axis" value={x} options={options} onChange={setX} />
      <Choice label="y axis" value={y} options={options} onChange={setY} />
      {chart.x.length > 0
        ? <Plot label={`${up.title} against ${across.title} of each operator call`} x={chart.x} curves={chart.curves}
                xTitle={across.title} yTitle={up.title} height={340} logX logY
                formatX={formatOf(across)} formatY={formatOf(up)} bytesX={isBytes(across)} bytesY={isBytes(up)}
                onPick={pick} />
        : <p class="quiet">no operator call has both values above 0</p>}
    </section>
  );
}

const mostKinds = 8;  // curves of their own; all other operators share one

/** A row for each point and for each corner of a ceiling; `operators`: of each row, if it is a point. */
function scatterCurves(operators: Operators, across: Float64Array, up: Float64Array, ceilings: Series[]) {
  const points = operators.module.map((_, i) => i).filter((i) => across[i]! > 0 && up[i]! > 0)
    .sort((a, b) => across[a]! - across[b]!);
  const corners = cornersAround(ceilings, points.map((i) => across[i]!));
  const rows = [...points.map((i) => ({ x: across[i]!, i: i as number | undefined })), ...corners.map((x) => ({ x, i: undefined }))]
    .sort((a, b) => a.x - b.x);
  const lines = ceilings.map((s): Curve => ({
    title: s.title, color: "var(--ink-2)", kind: "ceiling", y: rows.map((row) => valueAt(s, row.x)),
  }));
  return { x: rows.map((row) => row.x), operators: rows.map((row) => row.i),
           curves: [...kindsOf(operators, points, rows.map((row) => row.i), up), ...lines] };
}

/** A curve for each of the most frequent operators. */
function kindsOf(operators: Operators, points: number[], rows: (number | undefined)[], up: Float64Array): Curve[] {
  const names = namesOf(operators);
  const counts = new Map<string, number>();
  for (const i of points) counts.set(names[i]!, (counts.get(names[i]!) ?? 0) + 1);
  const kinds = [...counts].sort((a, b) => b[1] - a[1]).slice(0, mostKinds).map(([name]) => name);
  const curve = (title: string, color: string, isIn: (name: string) => boolean): Curve => ({
    title, color, kind: "points", y: rows.map((i) => (i !== undefined && isIn(names[i]!) ? up[i]! : null)),
  });
  const curves = kinds.map((name) => curve(shortened(name, 40), operatorColor(names, name), (other) => other === name));
  if (counts.size > kinds.length) curves.push(curve("others", "var(--kind-other)", (name) => !kinds.includes(name)));
  return curves;
}
