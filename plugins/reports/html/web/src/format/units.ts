// Numbers as people read them, by the rules of sdk/include/tmeter/cpp/units.hpp: counts by 1000,
// bytes by 1024, seconds ns … h. A value other than 0 never reads as 0.
import { UnitKind } from "../data/codes";
import type { Doubt } from "../data/report";
import { integerOf, kindOf, valueOf, type RawCell } from "../data/cell";
import type { Metric } from "../data/raw";

export interface Scaled {
  number: string;
  unit: string;
}

const countPrefixes = ["", "K", "M", "G", "T", "P", "E"];
const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const siPrefixes = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];

const roundsTo = (step: number) => step - 0.005;

/** printf's "%.Ng", as the SDK's `general`. */
function general(v: number, digits: number): string {
  const [mantissa = "", power = ""] = v.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < digits) return String(Number(v.toPrecision(digits)));
  return `${Number(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function shortNumber(v: number, whole: boolean): string {
  if (whole) return (v === 0 ? 0 : v).toFixed(0);
  return v !== 0 && Math.abs(v) < 0.005 ? general(v, 2) : v.toFixed(2);
}

function significant(v: number): string {
  const size = Math.abs(v);
  if (Number.isInteger(v) && size < 1e7) return shortNumber(v, true);
  return size >= 1 && size < 1e5 ? v.toFixed(2) : general(v, 3);
}

function scaleUp(v: number, step: number, units: string[], suffix = ""): Scaled {
  let power = 0, x = v;
  for (; power + 1 < units.length && Math.abs(x) >= roundsTo(step); ++power) x /= step;
  return { number: shortNumber(x, power === 0 && Number.isInteger(x)), unit: units[power] + suffix };
}

function scaleSi(v: number, unit: string, smallest = -4): Scaled {
  if (v === 0) return { number: "0", unit };
  let power = 0, x = v;
  while (power > smallest && Math.abs(x) < roundsTo(1000) / 1000) { x *= 1000; --power; }
  while (power < 5 && Math.abs(x) >= roundsTo(1000)) { x /= 1000; ++power; }
  return { number: shortNumber(x, false), unit: siPrefixes[power + 4] + unit };
}

function scaleSeconds(v: number): Scaled {
  if (Math.abs(v) >= 60 * roundsTo(60)) return { number: shortNumber(v / 3600, false), unit: "h" };
  if (Math.abs(v) >= roundsTo(60)) return { number: shortNumber(v / 60, false), unit: "min" };
  return scaleSi(v, "s", -3);
}

const counted = new Set(["FLOP", "MAC", "OP", "BOP", "B", "token", "image", "sample"]);
const symbols = new Set(["Hz", "g", "V", "A", "J", "W", "Wh", "eV"]);
const numerator = (unit: string) => unit.split("/")[0] ?? "";
const isRate = (unit: string) =>
  unit === "IPS" || (unit.length > 2 && unit.endsWith("/s")) || (unit.includes("/") && counted.has(numerator(unit)));

/** The unit of a value that is 1 or 0 and written in words (abi.md). */
export const yesNo = "yes/no";
const inWords = (v: number, unit: string): string | undefined =>
  unit !== yesNo || (v !== 0 && v !== 1) ? undefined : v === 1 ? "yes" : "no";

const kinds = new Map<string, number>([["B", UnitKind.byte], ["s", UnitKind.second], ["J", UnitKind.joule], ["W", UnitKind.watt]]);

/** The kind of a unit that a series states by its symbol. */
export const kindOfUnit = (unit: string): number => kinds.get(unit) ?? UnitKind.other;

/** "ms" of "s", "GFLOP/s" of "FLOP/s", but no prefix before "dB" or "%". */
export const takesPrefix = (unit: string): boolean =>
  kindOfUnit(unit) !== UnitKind.other || symbols.has(numerator(unit)) || isRate(unit);

export function scaled(v: number, kind: number, unit: string): Scaled {
  if (Number.isNaN(v)) return { number: "nan", unit: "" };
  if (!Number.isFinite(v)) return { number: v < 0 ? "-inf" : "inf", unit: "" };
  switch (kind) {
    case UnitKind.count:
    case UnitKind.op:
      return scaleUp(v, 1000, countPrefixes);
    case UnitKind.byte:
      return scaleUp(v, 1024, byteUnits);
    case UnitKind.second:
      return scaleSeconds(v);
    case UnitKind.joule:
      return scaleSi(v, "J");
    case UnitKind.watt:
      return scaleSi(v, "W");
    case UnitKind.ratio:
      return { number: shortNumber(v * 100, false), unit: "%" };
  }
  if (symbols.has(numerator(unit))) return scaleSi(v, unit);
  return isRate(unit) ? scaleUp(v, 1000, countPrefixes, unit) : { number: significant(v), unit };
}

/** The mark before a value without some of its parts: sums and maxima are lower bounds, means are not. */
const sign = (metric: Metric, doubt: Doubt): string =>
  doubt === "none" ? "" : doubt === "assumed" ? "~" : metric.aggregation <= 1 ? "≥" : "≈";

/** "4.09 G", "?", "n/a", "–", "≥1.20 M" */
export function scaledValue(cell: RawCell | undefined, metric: Metric, doubt: Doubt = "none"): Scaled {
  switch (kindOf(cell)) {
    case "none":
      return { number: "–", unit: "" };
    case "unknown":
      return { number: "?", unit: "" };
    case "unavailable":
      return { number: "n/a", unit: "" };
    case "in module":
      return { number: "↑", unit: "" };
    case "zero by rule":
      return { number: `${sign(metric, doubt)}0`, unit: "" };
  }
  const v = valueOf(cell);
  const word = inWords(v, metric.unit);
  const text = word !== undefined ? { number: word, unit: "" } : v === 0 ? { number: "0", unit: "" } : scaled(v, metric.unit_kind, metric.unit);
  return { number: `${sign(metric, doubt)}${text.number}`, unit: text.unit };
}

export const joined = ({ number, unit }: Scaled): string => (unit ? `${number} ${unit}` : number);

/** "25,557,032" */
export const grouped = (n: bigint | number): string => n.toString().replace(/\B(?=(\d{3})+$)/g, ",");

/** "4,089,184,256 MAC": every digit; reals as the shortest text that reads back the same. */
export function exact(cell: RawCell | undefined, metric: Metric, doubt: Doubt = "none"): string {
  const kind = kindOf(cell);
  if (kind === "none") return "does not apply";
  if (kind === "unknown") return "unknown: an operator without a rule";
  if (kind === "unavailable") return "unavailable";
  if (kind === "in module") return "included in the value of an enclosing module, which a plugin gives as a whole";
  const digits = integerOf(cell);
  const number = digits !== undefined ? grouped(digits) : String(valueOf(cell));
  const text = inWords(valueOf(cell), metric.unit) ?? (metric.unit ? `${number} ${metric.unit}` : number);
  const note = kind === "zero by rule" ? " (zero by rule)" : "";
  const word = { none: "", bound: metric.aggregation <= 1 ? "at least " : "about ", assumed: "under an assumption " };
  return `${word[doubt]}${text}${note}`;
}

/** The number without separators and unit, for spreadsheets; empty: no number. */
export function plain(cell: RawCell | undefined): string {
  const digits = integerOf(cell);
  if (digits !== undefined) return digits.toString();
  return kindOf(cell) === "number" ? String(valueOf(cell)) : "";
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const value = 100 * share;
  return value !== 0 && Math.abs(value) < 0.05 ? "<0.1 %" : `${value.toFixed(1)} %`;
}

/** "1 tensor", "2,000 tensors" */
export const countOf = (n: number, thing: string): string =>
  `${grouped(n)} ${thing}${n === 1 ? "" : "s"}`;
