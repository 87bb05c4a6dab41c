// A distribution as bars: large with an axis, or as a small picture in a table.
import { useState } from "preact/hooks";
import { integerOf } from "../data/cell";
import type { Distribution } from "../data/raw";
import { countOf } from "../format/units";

const countsOf = ({ counts }: Distribution): number[] => counts.map((n) => Number(integerOf(n) ?? 0n));

/** Bars as one path; bins may be of different widths, so the height is the count, not the density. */
function bars(d: Distribution, width: number, height: number, logarithmic: boolean): string {
  const counts = countsOf(d);
  const scale = logarithmic ? (n: number) => Math.log1p(n) : (n: number) => n;
  const most = scale(Math.max(1, ...counts));
  const low = d.edges[0]!, range = (d.edges[d.edges.length - 1]! - low) || 1;
  const x = (edge: number) => ((edge - low) / range) * width;
  return counts.map((n, i) => {
    if (n === 0) return "";
    const left = x(d.edges[i]!), right = Math.max(x(d.edges[i + 1]!), left + 0.5);
    const top = height - Math.max(0.75, (scale(n) / most) * height);
    return `M${left.toFixed(2)} ${height}V${top.toFixed(2)}H${right.toFixed(2)}V${height}Z`;
  }).join("");
}

export function Spark({ distribution }: { distribution: Distribution }) {
  return (
    <svg class="spark" viewBox="0 0 100 22" preserveAspectRatio="none" aria-hidden="true">
      <path d={bars(distribution, 100, 22, false)} />
    </svg>
  );
}

const edge = (v: number): string => String(Number(v.toPrecision(4)));

/** The bin at `share` of the width, from the left. */
function binAt(d: Distribution, share: number): number {
  const low = d.edges[0]!, high = d.edges[d.edges.length - 1]!;
  const value = low + share * (high - low);
  return Math.min(d.counts.length - 1, Math.max(0, d.edges.findIndex((e) => e > value) - 1));
}

export function Histogram({ distribution: d, name }: { distribution: Distribution; name: string }) {
  const [logarithmic, setLogarithmic] = useState(false);
  const [bin, setBin] = useState<number>();
  const counts = countsOf(d);
  const all = counts.reduce((a, b) => a + b, 0);
  const unit = d.unit ? ` ${d.unit}` : "";
  const from = edge(d.edges[0]!), to = edge(d.edges[d.edges.length - 1]!);
  const onMove = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    setBin(binAt(d, (event.clientX - box.left) / box.width));
  };
  return (
    <figure class="histogram">
      <figcaption>
        {d.title || d.id}
        <label class="check"><input type="checkbox" checked={logarithmic}
          onChange={(e) => setLogarithmic(e.currentTarget.checked)} />log counts</label>
      </figcaption>
      <svg viewBox="0 0 300 90" preserveAspectRatio="none" role="img"
           aria-label={`${d.title} of ${name}: ${countOf(all, "element")} from ${from} to ${to}${unit}`}
           onPointerMove={onMove} onPointerLeave={() => setBin(undefined)}>
        <path d={bars(d, 300, 90, logarithmic)} />
      </svg>
      <div class="axis"><span>{from}</span>
        <span class="quiet">{bin === undefined ? countOf(all, "element")
          : `${edge(d.edges[bin]!)} … ${edge(d.edges[bin + 1]!)}: ${counts[bin]!.toLocaleString("en-US")}`}</span>
        <span>{to}{unit}</span></div>
    </figure>
  );
}
