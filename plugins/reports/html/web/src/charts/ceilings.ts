// Limits for values, such as a roofline behind operators.
import type { Metric, Series } from "../data/raw";
import { Axis } from "../data/codes";
import type { Points } from "./curves";

/** A curve of the whole model over one metric, in the unit of the other. */
export const isCeiling = (series: Series, across: Metric, up: Metric): boolean =>
  series.of[0] === Axis.model && series.x_title === across.title && series.x_unit === across.unit &&
  up.unit !== "" && series.y_unit === up.unit;

/** y at x by interpolation between neighbours, of logarithms if all values are above 0; null beyond both ends. */
export function valueAt({ x, y }: Points, at: number): number | null {
  const next = Math.max(1, x.findIndex((v) => v >= at));
  const [x0, x1, y0, y1] = [x[next - 1]!, x[next], y[next - 1]!, y[next]];
  if (at === x0) return y0;
  if (x1 === undefined || y1 === undefined || !(at > x0 && at <= x1)) return null;
  if (x0 > 0 && y0 > 0 && y1 > 0) return y0 * (y1 / y0) ** (Math.log(at / x0) / Math.log(x1 / x0));
  return y0 + ((at - x0) / (x1 - x0)) * (y1 - y0);
}

/** Additional x, in rising order, at which curves are drawn: their corners, and a margin around curves and points. */
export function cornersAround(curves: readonly Points[], points: readonly number[]): number[] {
  if (curves.length === 0 || points.length === 0) return [];
  const corners = curves.flatMap((curve) => curve.x.slice(1, -1));
  const all = [...corners, points[0]!, points[points.length - 1]!];
  return [Math.min(...all) / 2, ...corners.sort((a, b) => a - b), Math.max(...all) * 2];
}
