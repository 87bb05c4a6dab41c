// Values of cells: which are numbers, and that counts keep every digit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aggregate, integerOf, isKnown, kindOf, valueOf } from "page/data/cell";
import { exact, joined, plain, scaledValue } from "page/format/units";
import { Aggregation, UnitKind } from "page/data/codes";
import type { Metric } from "page/data/raw";

const metric = (change: Partial<Metric> = {}): Metric => ({
  id: "macs", title: "MACs", unit: "MAC", unit_kind: UnitKind.op, axis: 0, aggregation: Aggregation.sum, better: 0,
  detail: false, of_tensors: false, provenance: 0, provenance_text: "", convention: "", description: "", plugin: "p",
  total: 100, ...change,
});

test("kinds of cells", () => {
  const kinds = [[null, "none"], ["?", "unknown"], ["-", "unavailable"], ["^", "in module"], ["0", "zero by rule"], [0, "number"],
    [2.5, "number"], ["i9007199254740993", "number"], ["nan", "number"], ["-inf", "number"]] as const;
  for (const [cell, kind] of kinds) assert.equal(kindOf(cell), kind);
  assert.ok(isKnown("0"));
  assert.ok(!isKnown("?"));
});

test("nothing, unknown, unavailable, zero and lower bounds look different", () => {
  const texts = [null, "?", "-", "^", "0", 0, 1500].map((cell) => joined(scaledValue(cell, metric())));
  assert.deepEqual(texts, ["–", "?", "n/a", "↑", "0", "0", "1.50 K"]);
  assert.match(exact("^", metric()), /value of an enclosing module/);
  assert.equal(plain("^"), "");
  assert.equal(joined(scaledValue(1500, metric(), "bound")), "≥1.50 K");
  assert.equal(joined(scaledValue(1500, metric(), "assumed")), "~1.50 K");
  assert.equal(exact("0", metric()), "0 MAC (zero by rule)");
  assert.equal(exact(0, metric()), "0 MAC");
  assert.match(exact("?", metric()), /unknown/);
  assert.equal(exact(1500, metric(), "bound"), "at least 1,500 MAC");
  assert.equal(exact(1500, metric(), "assumed"), "under an assumption 1,500 MAC");
});

test("counts beyond 2^53 keep their digits", () => {
  assert.equal(exact("i9007199254740993", metric()), "9,007,199,254,740,993 MAC");
  assert.equal(plain("i9223372036854775807"), "9223372036854775807");
  assert.equal(integerOf("i9007199254740993"), 9007199254740993n);
});

test("sums of counts are exact where doubles are not", () => {
  // 2^53 + 1 cannot be held by a double.
  assert.equal(aggregate([9007199254740992, 1], Aggregation.sum), "i9007199254740993");
  assert.equal(aggregate(["i9007199254740993", 9007199254740992], Aggregation.sum), "i18014398509481985");
  assert.equal(aggregate([1.5, 2], Aggregation.sum), 3.5);
});

test("aggregates of a group of values", () => {
  assert.equal(aggregate([3, 7, 5], Aggregation.max), 7);
  assert.equal(aggregate([3, 7, 5], Aggregation.last), 5);
  assert.equal(aggregate([3, 7], Aggregation.weightedMean), null, "no value rather than a wrong one");
  assert.equal(aggregate(["0", "0"], Aggregation.sum), "0", "zero by rule stays what it is");
  assert.equal(aggregate(["?", 4], Aggregation.sum), 4);
  assert.equal(aggregate(["?", "?"], Aggregation.sum), "?");
  assert.equal(aggregate([null, null], Aggregation.sum), null);
});

test("a cell without a number gives nothing to sort by", () => {
  assert.ok(Number.isNaN(valueOf(null)) && Number.isNaN(valueOf("?")) && Number.isNaN(valueOf("nan")));
  assert.equal(valueOf("0"), 0);
  assert.equal(valueOf("-inf"), -Infinity);
});
