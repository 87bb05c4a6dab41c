// Metrics that are compared with each other: many of one plugin, in a unit that is neither a count nor bytes, such as the
// signal-to-noise ratios of a tensor under different quantization schemes.
import { Provenance, UnitKind } from "./codes";
import type { Values } from "./values";
import type { Metric } from "./raw";

export interface Family {
  title: string;
  unit: string;
  metrics: number[];
}

const fewest = 4;

/** The common beginning of all ids: "sqnr" of sqnr_int8 and sqnr_nf4. */
function commonWord(ids: readonly string[]): string {
  const words = ids.map((id) => id.split("_"));
  let n = 0;
  while (words.every((w) => w.length > n + 1 && w[n] === words[0]![n])) ++n;
  return words[0]!.slice(0, n).join(" ");
}

export function families(metrics: readonly Metric[], among: readonly number[]): Family[] {
  const groups = new Map<string, number[]>();
  for (const i of among) {
    const { unit, unit_kind, plugin, provenance } = metrics[i]!;
    if (unit_kind !== UnitKind.other || !unit || provenance === Provenance.unavailable) continue;
    const key = `${plugin}\u0000${unit}`;
    groups.set(key, [...groups.get(key) ?? [], i]);
  }
  return [...groups.values()].filter((group) => group.length >= fewest).map((group) => {
    const { unit, title } = metrics[group[0]!]!;
    return { title: commonWord(group.map((i) => metrics[i]!.id)) || title, unit, metrics: group };
  });
}

export const labelOf = (metric: Metric): string => metric.description || metric.title;

export interface Spread {
  low: number;
  middle: number;
  high: number;
}

/** The 5 %, 50 % and 95 % quantiles of the finite values, without interpolation; undefined: there are none. */
export function spread(values: Values, metric: number): Spread | undefined {
  const numbers = values.numbers(metric).filter(Number.isFinite).sort();
  if (numbers.length === 0) return undefined;
  const at = (share: number) => numbers[Math.round(share * (numbers.length - 1))]!;
  return { low: at(0.05), middle: at(0.5), high: at(0.95) };
}
