// Metrics that are read side by side, of any plugins.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Aggregation, Provenance, UnitKind } from "page/data/codes";
import { families, spread } from "page/data/families";
import { Values } from "page/data/values";
import type { Metric } from "page/data/raw";

const metric = (id: string, unit: string, change: Partial<Metric> = {}): Metric => ({
  id, title: id, unit, unit_kind: UnitKind.other, axis: 3, aggregation: Aggregation.none, better: 1, detail: true,
  of_tensors: true, provenance: 0, provenance_text: "", convention: "", description: "", plugin: "p", total: null, ...change,
});
const all = (metrics: Metric[]) => metrics.map((_, i) => i);

test("four metrics of one plugin in one unit are a family, named by the common beginning of their names", () => {
  const metrics = ["snr_a_x", "snr_a_y", "snr_b", "snr_c"].map((id) => metric(id, "dB"));
  assert.deepEqual(families(metrics, all(metrics)), [{ title: "snr", unit: "dB", metrics: [0, 1, 2, 3] }]);
  assert.deepEqual(families(metrics, [0, 1, 2]), [], "three are not");
});

test("names without a common beginning keep the title of the first one", () => {
  const metrics = ["up", "down", "left", "right"].map((id) => metric(id, "rad"));
  assert.equal(families(metrics, all(metrics))[0]!.title, "up");
});

test("metrics of other plugins and units, counts, bytes and metrics without a unit form no family", () => {
  const metrics = [metric("a", "dB"), metric("b", "dB"), metric("c", "dB"), metric("d", "dB", { plugin: "q" }), metric("e", "bit"),
    ...["f", "g", "h", "i"].map((id) => metric(id, "B", { unit_kind: UnitKind.byte })),
    ...["j", "k", "l", "m"].map((id) => metric(id, ""))];
  assert.deepEqual(families(metrics, all(metrics)), []);
});

test("metrics that a file without weights does not have form no family", () => {
  const metrics = ["a", "b", "c", "d"].map((id) => metric(id, "dB", { provenance: Provenance.unavailable }));
  assert.deepEqual(families(metrics, all(metrics)), []);
});

test("a spread is of the finite values, and each end is one of them", () => {
  const cells = [...Array.from({ length: 21 }, (_, i) => 100 - 5 * i), "inf", "nan", null, "?"];  // 100, 95, … 0
  assert.deepEqual(spread(new Values([{ metric: 7, cells }]), 7), { low: 5, middle: 50, high: 95 });
  assert.deepEqual(spread(new Values([{ metric: 7, cells: [3] }]), 7), { low: 3, middle: 3, high: 3 });
  assert.equal(spread(new Values([{ metric: 7, cells: [null, "?"] }]), 7), undefined);
});
