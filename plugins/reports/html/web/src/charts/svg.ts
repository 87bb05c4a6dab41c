// A chart as SVG text: the curves of a Plot with axes, grid and legend, without the page around it.

export interface Scale {
  /** Pixels from the start of the axis. */
  at: (v: number) => number;
  ticks: number[];
}

/** Steps of 1, 2 or 5 times a power of ten, or powers of two, at most `most` of them. */
export function linear(low: number, high: number, length: number, most: number, bytes = false): Scale {
  if (low === high) [low, high] = [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
  const least = (high - low) / most, power = 10 ** Math.floor(Math.log10(least));
  const step = bytes ? 2 ** Math.ceil(Math.log2(least)) : [1, 2, 5, 10].map((n) => n * power).find((s) => s >= least * (1 - 1e-9))!;
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return {
    at: (v) => ((v - low) / (high - low)) * length,
    ticks: Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step),
  };
}

/** Powers of the base, as many as are readable. */
export function logarithmic(low: number, high: number, length: number, most: number, base: number): Scale {
  const of = (v: number) => Math.log(v) / Math.log(base);
  const from = Math.floor(of(low) + 1e-9), to = Math.max(from + 1, Math.ceil(of(high) - 1e-9));
  const step = Math.max(1, Math.ceil((to - from) / most));
  const ticks: number[] = [];
  for (let power = from; power <= to; power += step) ticks.push(base ** power);
  return { at: (v) => ((of(v) - from) / (to - from)) * length, ticks };
}

export interface SvgCurve {
  title: string;
  color: string;
  kind: "line" | "points" | "steps" | "ceiling";
  /** Lengths of strokes and gaps; empty: a solid line. */
  dash: readonly number[];
  y: readonly (number | null)[];
}

export interface SvgChart {
  title: string;
  xTitle: string;
  yTitle: string;
  x: readonly number[];
  curves: readonly SvgCurve[];
  formatX: (v: number) => string;
  formatY: (v: number) => string;
  logX: boolean;
  logY: boolean;
  bytesX: boolean;
  bytesY: boolean;
  ink: string;
  grid: string;
  paper: string;
}

const plotWidth = 674, plotHeight = 400, top = 36, below = 54, legendLine = 18, letter = 7;  // pixels; `letter`: a character of a tick label

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
const short = (v: number): string => String(Number(v.toFixed(2)));

function rangeOf(values: Iterable<number | null>, positive: boolean): [number, number] | undefined {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v === null || !Number.isFinite(v) || (positive && v <= 0)) continue;
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  return low <= high ? [low, high] : undefined;
}

const dashed = ({ dash }: SvgCurve): string => (dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "");

function drawn(curve: SvgCurve, x: readonly number[], atX: (v: number) => number, atY: (v: number) => number): string {
  const color = escaped(curve.color);
  const places = x.flatMap((v, i) => {
    const y = curve.y[i], place = [atX(v), atY(y ?? NaN)] as const;
    return typeof y === "number" && place.every(Number.isFinite) ? [place] : [];
  });
  if (curve.kind === "points" || places.length < 2)
    return places.map(([px, py]) => `<circle cx="${short(px)}" cy="${short(py)}" r="3" fill="${color}"/>`).join("");
  const path = places.map(([px, py], i) => {
    if (i === 0) return `M${short(px)} ${short(py)}`;
    return curve.kind === "steps" ? `H${short(px)}V${short(py)}` : `L${short(px)} ${short(py)}`;
  }).join("");
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.75"${dashed(curve)}/>`;
}

export function svgOf(chart: SvgChart): string {
  const { x, curves, ink, grid } = chart;
  const [x0, x1] = rangeOf(x, chart.logX) ?? [1, 10], [y0, y1] = rangeOf(curves.flatMap((c) => [...c.y]), chart.logY) ?? [1, 10];
  const across = chart.logX ? logarithmic(x0, x1, plotWidth, 8, chart.bytesX ? 2 : 10) : linear(x0, x1, plotWidth, 8, chart.bytesX);
  const up = chart.logY ? logarithmic(y0, y1, plotHeight, 8, chart.bytesY ? 2 : 10)
    : linear(Math.min(0, y0), y1, plotHeight, 8, chart.bytesY);
  // Room for the tick labels and the axis title on the left, and for half of the last tick label below.
  const left = Math.ceil(40 + letter * Math.max(0, ...up.ticks.map((v) => chart.formatY(v).length)));
  const width = Math.ceil(left + plotWidth + 16 + (letter / 2) * Math.max(0, ...across.ticks.map((v) => chart.formatX(v).length)));
  const atX = (v: number) => left + across.at(v), atY = (v: number) => top + plotHeight - up.at(v);
  const height = top + plotHeight + below + legendLine * curves.length;
  const text = (px: number, py: number, words: string, more = "") => `<text x="${short(px)}" y="${short(py)}"${more}>${escaped(words)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">`,
    `<title>${escaped(chart.title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${chart.paper}"/>`,
    text(left, 22, chart.title, ' font-weight="bold" font-size="14"'),
    ...across.ticks.map((v) => `<path d="M${short(atX(v))} ${top}v${plotHeight}" stroke="${grid}"/>` +
      text(atX(v), top + plotHeight + 18, chart.formatX(v), ' text-anchor="middle"')),
    ...up.ticks.map((v) => `<path d="M${left} ${short(atY(v))}h${plotWidth}" stroke="${grid}"/>` +
      text(left - 8, atY(v) + 4, chart.formatY(v), ' text-anchor="end"')),
    text(left + plotWidth / 2, top + plotHeight + 40, chart.xTitle, ' text-anchor="middle"'),
    text(16, top + plotHeight / 2, chart.yTitle, ` text-anchor="middle" transform="rotate(-90 16 ${top + plotHeight / 2})"`),
    ...curves.map((curve) => drawn(curve, x, atX, atY)),
    ...curves.map((curve, i) => {
      const y = top + plotHeight + below + legendLine * i;
      const mark = curve.dash.length === 0 ? `<rect x="${left}" y="${y}" width="24" height="10" fill="${escaped(curve.color)}"/>`
        : `<path d="M${left} ${y + 5}h24" fill="none" stroke="${escaped(curve.color)}" stroke-width="3"${dashed(curve)}/>`;
      return mark + text(left + 32, y + 9, curve.title);
    }),
    "</svg>", "",
  ].join("\n");
}
