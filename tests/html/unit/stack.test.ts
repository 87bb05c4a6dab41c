// Metrics that add up as one bar.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stacksOf } from "page/charts/stack";
import type { Metric } from "page/data/raw";

const metric = (id: string, bar: Metric["bar"], total: Metric["total"], plugin = "p") =>
  ({ id, title: id, plugin, total, ...(bar ? { bar } : {}) }) as Metric;

test("parts add up against the capacity of their plugin", () => {
  const [stack, ...rest] = stacksOf([metric("other", undefined, 9), metric("a", "part", 3), metric("none", "part", 0),
    metric("b", "part", 5), metric("device", "capacity", 4), metric("alone", "capacity", 7, "q")]);
  assert.deepEqual([stack!.parts.map(({ metric: { id } }) => id), stack!.sum, stack!.capacity!.value, rest.length], [["a", "b"], 8, 4, 0]);
});

test("parts of two plugins do not add up", () => {
  assert.deepEqual(stacksOf([metric("a", "part", 3), metric("b", "part", 5, "q")]).map(({ sum, capacity }) => [sum, capacity]),
    [[3, undefined], [5, undefined]]);
});
