// Series over one x, because uPlot needs all curves of a chart at the same points.

export interface Points {
  x: readonly number[];
  y: readonly number[];
}

/** All x in rising order, and each curve's value at each of them; null: no value. */
export function aligned(curves: readonly Points[]): { x: number[]; y: (number | null)[][] } {
  const x = [...new Set(curves.flatMap((curve) => [...curve.x]))].sort((a, b) => a - b);
  const at = new Map(x.map((value, i) => [value, i]));
  const y = curves.map((curve) => {
    const values = new Array<number | null>(x.length).fill(null);
    curve.x.forEach((value, i) => { values[at.get(value)!] = curve.y[i]!; });
    return values;
  });
  return { x, y };
}

/** Whether a logarithmic scale is clearer: all values are positive and span more than two powers of ten. */
export function spansDecades(values: Iterable<number>): boolean {
  let least = Infinity, most = 0;
  for (const v of values) {
    if (Number.isNaN(v)) continue;
    if (v <= 0) return false;
    least = Math.min(least, v);
    most = Math.max(most, v);
  }
  return most / least > 100;
}
