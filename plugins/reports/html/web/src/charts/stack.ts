// Parts of a sum as one bar: the metrics that are parts, compared with the capacity that the same plugin gives.
import type { Metric } from "../data/raw";
import { valueOf } from "../data/cell";

export interface Stack {
  parts: { metric: Metric; value: number }[];
  sum: number;
  capacity?: { metric: Metric; value: number };
}

/** One bar for each plugin with parts above 0. */
export function stacksOf(metrics: readonly Metric[]): Stack[] {
  const stacks = new Map<string, Stack>();
  for (const metric of metrics.filter(({ bar }) => bar !== undefined)) {
    const value = valueOf(metric.total);
    if (!(value > 0) || !Number.isFinite(value)) continue;
    const stack = stacks.get(metric.plugin) ?? { parts: [], sum: 0 };
    stacks.set(metric.plugin, stack);
    if (metric.bar === "capacity") {
      stack.capacity = { metric, value };
    } else {
      stack.parts.push({ metric, value });
      stack.sum += value;
    }
  }
  return [...stacks.values()].filter(({ parts }) => parts.length > 0);
}
