// The numbers of the SDK's headers (abi/base.h, metric.h, finding.h, graph.h) that reports carry.

export const Axis = { operator: 0, moduleCall: 1, module: 2, tensor: 3, model: 4 } as const;
export const UnitKind = {
  count: 0, byte: 1, op: 2, joule: 3, second: 4, ratio: 5, watt: 6, other: 7,
} as const;
export const Aggregation = { sum: 0, max: 1, last: 2, weightedMean: 3, none: 4 } as const;
export const Provenance = { computed: 0, measured: 1, estimated: 2, unavailable: 3 } as const;

const named = (names: readonly string[]) => (code: number): string => names[code] ?? "other";

export const provenanceName = named(["computed", "measured", "estimated", "unavailable"]);
export const aggregationName = named([
  "the sum of the values inside", "the largest inside", "the last inside", "a weighted mean", "not rolled up",
]);
export const betterName = named(["lower is better", "higher is better", ""]);
export const severityName = named(["info", "advice", "warning", "error"]);
export const tensorKindName = named(["parameter", "buffer", "constant"]);
export const axisName = named(["operator", "module call", "module", "tensor", "model"]);
