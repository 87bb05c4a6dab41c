// How an axis, or the text beside a bar, writes a metric's values.
import { UnitKind } from "../data/codes";
import type { Metric } from "../data/raw";
import { joined, scaled } from "../format/units";

export const formatOf = (metric: Metric) => (v: number) => joined(scaled(v, metric.unit_kind, metric.unit));
export const isBytes = (metric: Metric) => metric.unit_kind === UnitKind.byte;
