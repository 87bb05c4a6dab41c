// The blocks of data in the page, as plugins/reports/html/*.cpp writes them.
import type { RawCell } from "./cell";

/** A count; beyond 2^53 as "i9007199254740993". */
export type RawCount = number | string;
/** [axis, index] */
export type Target = readonly [axis: number, index: number];

export interface Metric {
  id: string;
  title: string;
  unit: string;
  unit_kind: number;
  axis: number;
  aggregation: number;
  better: number;
  detail: boolean;
  of_tensors: boolean;
  /** A part of a bar, or its capacity. */
  bar?: "part" | "capacity";
  provenance: number;
  provenance_text: string;
  convention: string;
  description: string;
  plugin: string;
  total: RawCell;
}

export interface Finding {
  severity: number;
  rule: string;
  text: string;
  evidence: string;
  action: string;
  plugin: string;
  targets: Target[];
  changes: [metric: string, from: RawCell, to: RawCell][];
}

export interface Symbol {
  name: string;
  value: RawCount;
  min: RawCount;
  max: RawCount | null;
  place: string;
}

export interface Coverage {
  metric: string;
  counted: number;
  zero_by_rule: number;
  unknown: number;
  unknown_operators: [name: string, calls: number][];
}

export interface Summary {
  model: { name: string; format: string; producer: string; part: string; file: string; size: string };
  counts: { modules: number; operators: number; tensors: number; distributions: number; series: number };
  run: {
    version: string;
    seconds: string;
    hardware: string;
    command: string;
    config: [key: string, value: string][];
    plugins: [id: string, version: string][];
  };
  inputs: { name: string; origin: string; text: string }[];
  outputs: string[];
  symbols: Symbol[];
  metrics: Metric[];
  coverage: Coverage | null;
  warnings: string[];
  findings: Finding[];
  formulas: { metric: number; module: number; text: string; partial: boolean }[];
  sweep: { symbols: number[]; points: RawCount[][]; totals: RawCell[][] } | null;
  lower_bounds: number[][];
  assumed: number[][];
}

/** Each row's text by its number. */
export interface Texts {
  at: number[];
  texts: string[];
}

export interface Modules {
  name: string[];
  parent: number[];
  calls: number[];
  type: Texts;
  text: Texts;
  input_size: Texts;
  output_size: Texts;
  repeats: [module: number, window: number, times: number][];
}

export interface Operators {
  op: Texts;
  module: number[];
  /** Module call; -1 outside of all. */
  call: number[];
  calls: { module: number[]; parent: number[] };
  /** Values that plugins give for module calls as a whole: operators inside have no values of their own. */
  answers: [call: number, metric: number, cell: RawCell][];
  location: Texts;
  arguments: Texts;
  results: Texts;
  back: number[][];
  /** For each operator: the model's inputs that it reads. */
  inputs: number[][];
  /** For each output of the model: the operators that made it. */
  outputs: number[][];
  tensors: number[][];
}

export interface Tensors {
  name: string[];
  owner: number[];
  kind: number[];
  trainable: number[];
  tied_to: number[];
  numel: RawCount[];
  type: Texts;
}

export type Values = { metric: number; cells: RawCell[] }[];

export interface Distribution {
  id: string;
  title: string;
  unit: string;
  of: Target;
  edges: number[];
  counts: RawCount[];
}

export interface Series {
  id: string;
  title: string;
  x_title: string;
  x_unit: string;
  y_title: string;
  y_unit: string;
  of: Target;
  x: number[];
  y: number[];
}

export interface Curves {
  distributions: Distribution[];
  series: Series[];
}

export const textOf = (texts: Texts, row: number): string => texts.texts[texts.at[row] ?? -1] ?? "";
