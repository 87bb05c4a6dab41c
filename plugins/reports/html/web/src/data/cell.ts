// One value as the writer encodes it: a number, or the reason why it is missing. Counts beyond 2^53 keep their digits.

/** number; null: no value; "?" unknown; "-" unavailable; "^" in a module's value; "0" zero by rule; "i…" digits; "nan", "inf", "-inf". */
export type RawCell = number | string | null;

export type CellKind = "none" | "number" | "zero by rule" | "unknown" | "unavailable" | "in module";

export function kindOf(cell: RawCell | undefined): CellKind {
  if (cell === null || cell === undefined) return "none";
  if (cell === "?") return "unknown";
  if (cell === "-") return "unavailable";
  if (cell === "^") return "in module";
  return cell === "0" ? "zero by rule" : "number";
}

export const isKnown = (cell: RawCell | undefined): boolean => {
  const kind = kindOf(cell);
  return kind === "number" || kind === "zero by rule";
};

/** The number for sorting, shares and areas; NaN: no number. */
export function valueOf(cell: RawCell | undefined): number {
  if (typeof cell === "number") return cell;
  if (!isKnown(cell)) return NaN;
  const text = cell as string;
  if (text.startsWith("i")) return Number(text.slice(1));
  return { nan: NaN, inf: Infinity, "-inf": -Infinity }[text] ?? 0;
}

/** All digits of a count, if it is one. */
export function integerOf(cell: RawCell | undefined): bigint | undefined {
  if (typeof cell === "number") return Number.isInteger(cell) ? BigInt(cell) : undefined;
  if (cell === "0") return 0n;
  return typeof cell === "string" && cell.startsWith("i") ? BigInt(cell.slice(1)) : undefined;
}

function plus(a: RawCell, b: RawCell): RawCell {
  if (a === "0") return b;
  if (b === "0") return a;
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (!Number.isInteger(a) || !Number.isInteger(b) || Number.isSafeInteger(sum)) return sum;
  }
  const x = integerOf(a), y = integerOf(b);
  return x !== undefined && y !== undefined ? `i${x + y}` : valueOf(a) + valueOf(b);
}

/** Combines the cells of a group by their metric's aggregation; null: no rule. */
export function aggregate(cells: readonly RawCell[], aggregation: number): RawCell {
  const known = cells.filter(isKnown);
  if (known.length === 0) return cells.find((cell) => cell !== null) ?? null;
  if (known.length === 1) return known[0] ?? null;
  if (aggregation === 0) return known.reduce(plus);
  if (aggregation === 1) return known.reduce((a, b) => (valueOf(b) > valueOf(a) ? b : a));
  if (aggregation === 2) return known[known.length - 1] ?? null;
  return null;
}
