// A chart by uPlot, in the colours of the page, as wide as its container.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { UnitKind } from "../data/codes";
import { joined, scaled } from "../format/units";
import { useColors } from "../state/theme";
import { SaveButton } from "../views/save";
import { useSize } from "../views/size";
import { pngOf } from "./png";
import { svgOf } from "./svg";

export interface Curve {
  title: string;
  y: (number | null)[];
  /** CSS colour */
  color: string;
  kind?: "line" | "points" | "steps" | "ceiling";
  /** Lengths of strokes and gaps. A ceiling is always dashed, because it is not measured. */
  dash?: number[];
}

export interface PlotProps {
  label: string;
  x: number[];
  xTitle: string;
  yTitle: string;
  curves: Curve[];
  height: number;
  logX?: boolean;
  logY?: boolean;
  /** Format numbers for axes and legend; with `bytes`, steps are powers of two. */
  formatX?: (v: number) => string;
  formatY?: (v: number) => string;
  bytesX?: boolean;
  bytesY?: boolean;
  /** A click on the nearest point. */
  onPick?: (index: number) => void;
  /** Vertical marks. */
  marks?: { x: number; title: string }[];
  legend?: boolean;
  /** false: without buttons that save it */
  saved?: boolean;
}

const powersOfTwo = Array.from({ length: 60 }, (_, i) => 2 ** i);

/** All digits where they fit beside an axis. */
const plainNumber = (v: number) => (Math.abs(v) < 1e7 ? v.toLocaleString("en-US", { maximumSignificantDigits: 5 })
  : joined(scaled(v, UnitKind.count, "")));

function resolved(color: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : color;
}

export const dashOf = ({ kind, dash = [] }: Pick<Curve, "kind" | "dash">): number[] => (kind === "ceiling" ? [6, 4] : dash);

/** A single point is drawn as a dot, because a line through it is invisible. */
const isDot = ({ y }: Curve): boolean => y.reduce((n: number, v) => n + Number(v !== null), 0) < 2;

function seriesOf(curve: Curve, format: (v: number) => string): uPlot.Series {
  const stroke = resolved(curve.color);
  const series: uPlot.Series = {
    label: curve.title, stroke, width: 1.75, spanGaps: curve.kind === undefined || curve.kind === "line",
    points: { show: curve.kind === "points" || isDot(curve), size: 6, fill: stroke },
    value: (_plot, v) => (v === null || v === undefined ? "" : format(v)),
  };
  if (curve.kind === "points") series.paths = () => null;
  series.dash = dashOf(curve);
  if (curve.kind === "steps") series.paths = uPlot.paths.stepped!({ align: 1 });
  return series;
}

function drawMarks(marks: NonNullable<PlotProps["marks"]>, color: string) {
  return (plot: uPlot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = color;
    ctx.setLineDash([4, 4]);
    for (const mark of marks) {
      const x = plot.valToPos(mark.x, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

/** Pixels for the values beside an axis and its title. */
const roomFor = (values: (string | null)[] | null) => 34 + 6 * Math.max(6, ...(values ?? []).map((v) => v?.length ?? 0));

/** Pixels right of the axis: half of the last label below it. */
function endOf({ x, formatX = plainNumber, logX, bytesX }: PlotProps): number {
  const base = bytesX ? 2 : 10, most = x.reduce((a, b) => Math.max(a, b), 1);
  const last = logX ? base ** Math.ceil(Math.log(most) / Math.log(base)) : most;
  return 10 + 3.3 * Math.max(6, formatX(last).length);
}

/** Labels below the axis, without those that would overlap the previous one. */
function apart(plot: uPlot, splits: (number | null)[], format: (v: number) => string): string[] {
  let end = -Infinity;
  return splits.map((v) => {
    if (v === null) return "";
    const text = format(v), at = plot.valToPos(v, "x"), half = 3.2 * text.length;
    if (at - half < end + 6) return "";
    end = at + half;
    return text;
  });
}

const mostWithValues = 10;  // curves; with more, the legend has only names, and the one under the pointer is named below
/** The CSS border style of a mark in the legend. */
const markOf = (dash: number[]): string => (dash.length === 0 ? "solid" : dash[0]! > 3 ? "dashed" : "dotted");

function optionsOf(props: PlotProps, width: number, onFocus: (title: string | undefined) => void): uPlot.Options {
  const ink = resolved("var(--ink-2)"), line = resolved("var(--line)");
  const formatX = props.formatX ?? plainNumber, formatY = props.formatY ?? plainNumber;
  const axis = (format: (v: number) => string, label: string, bytes = false): uPlot.Axis => ({
    ...(bytes ? { incrs: powersOfTwo } : {}),
    stroke: ink, grid: { stroke: line, width: 0.6 }, ticks: { stroke: line, width: 1, size: 5 }, label, labelSize: 20, labelGap: 0,
    labelFont: "12px system-ui", font: "11px system-ui",
    values: (_plot, splits) => splits.map((v) => (v === null ? "" : format(v))),
  });
  return {
    width, height: props.height, padding: [null, endOf(props), null, null],
    scales: {
      x: { time: false, distr: props.logX ? 3 : 1, log: props.bytesX ? 2 : 10 },
      y: { distr: props.logY ? 3 : 1, log: props.bytesY ? 2 : 10 },
    },
    axes: [{ ...axis(formatX, props.xTitle, props.bytesX), size: 30, values: (plot, splits) => apart(plot, splits, formatX) },
      { ...axis(formatY, props.yTitle, props.bytesY), size: (_plot, values) => roomFor(values) }],
    series: [{ label: props.xTitle, value: (_plot, v) => (v === null ? "point at the chart" : formatX(v)) },
      ...props.curves.map((curve) => seriesOf(curve, formatY))],
    legend: {
      show: props.legend ?? true, live: props.curves.length <= mostWithValues,
      markers: { dash: (_plot, i) => markOf(dashOf(props.curves[i - 1] ?? {})) },
    },
    cursor: { focus: { prox: 24 }, drag: { x: true, y: false } },
    focus: { alpha: 0.35 },
    hooks: {
      draw: props.marks ? [drawMarks(props.marks, resolved("var(--warning)"))] : [],
      setSeries: [(_plot, curve) => onFocus(curve === null ? undefined : props.curves[curve - 1]?.title)],
    },
  };
}

const colorsOf = ({ curves }: PlotProps) => ({
  curves: curves.map((curve) => ({ title: curve.title, y: curve.y, color: resolved(curve.color), kind: curve.kind ?? "line", dash: dashOf(curve) })),
  ink: resolved("var(--ink)"), grid: resolved("var(--line)"), paper: resolved("var(--surface)"),
});

function svgText(props: PlotProps): string {
  return svgOf({
    ...colorsOf(props),
    title: props.label, xTitle: props.xTitle, yTitle: props.yTitle, x: props.x,
    formatX: props.formatX ?? plainNumber, formatY: props.formatY ?? plainNumber,
    logX: props.logX ?? false, logY: props.logY ?? false, bytesX: props.bytesX ?? false, bytesY: props.bytesY ?? false,
  });
}

export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const dark = useColors();
  const [focused, setFocused] = useState<string>();
  useEffect(() => {
    if (width === 0) return;
    const data = [props.x, ...props.curves.map((curve) => curve.y)] as uPlot.AlignedData;
    const plot = new uPlot(optionsOf(props, width, setFocused), data, box.current!);
    const pick = () => { if (typeof plot.cursor.idx === "number") props.onPick?.(plot.cursor.idx); };
    plot.over.addEventListener("click", pick);
    return () => plot.destroy();
  }, [width, dark, props.x, props.curves, props.logX, props.logY, props.height, props.marks]);
  return (
    <>
      {props.saved === false ? null
        : <p class="chart-tools">
            <SaveButton what={props.label} ending="svg" content={() => svgText(props)} tip="The chart as a vector drawing" />{" "}
            <SaveButton what={props.label} ending="png" content={() => pngOf({ ...colorsOf(props), canvas: box.current!.querySelector("canvas")!, title: props.label })}
                        tip="The chart as an image" />
          </p>}
      <div class={props.curves.length > mostWithValues ? "plot many" : "plot"} ref={box} role="img" aria-label={props.label} />
      {props.curves.length > mostWithValues
        ? <p class="focused quiet">{focused ?? `${props.curves.length} curves; point at a line or a name`}</p> : null}
    </>
  );
}
