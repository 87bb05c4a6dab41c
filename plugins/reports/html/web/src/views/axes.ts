// What charts of operators have in common: their data, and how an axis writes a metric's figures.
import { UnitKind } from "../data/codes";
import type { Figures } from "../data/figures";
import type { Metric, Operators } from "../data/raw";
import { joined, scaled } from "../format/units";
import type { App } from "../state/app";

export interface OperatorData {
  app: App;
  operators: Operators;
  figures: Figures;
}

export const formatOf = (metric: Metric) => (v: number) => joined(scaled(v, metric.unit_kind, metric.unit));
export const isBytes = (metric: Metric) => metric.unit_kind === UnitKind.byte;
