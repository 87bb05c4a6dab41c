// Series as charts: which share one, which are empty, which fold.
import assert from "node:assert/strict";
import { test } from "node:test";
import { arranged, byMeaning, familyTitle, hasPoints } from "page/charts/series_groups";
import { Axis } from "page/data/codes";
import type { Series } from "page/data/raw";

const series = (id: string, of: number = Axis.model, x_title = "time"): Series => ({
  id, title: id, x_title, x_unit: "s", y_title: id, y_unit: "", of: [of, 0], x: [0, 1], y: [1, 2],
});

test("a series without a point has no chart", () => {
  const empty = { ...series("a"), x: [], y: [] }, unknown = { ...series("b"), y: [NaN, NaN] };
  assert.deepEqual([empty, unknown, series("c")].map(hasPoints), [false, false, true]);
  assert.deepEqual(byMeaning([empty, unknown, series("c")]).map(([s]) => s!.id), ["c"]);
});

test("series of one meaning share a chart", () => {
  assert.deepEqual(byMeaning([series("a", Axis.tensor), series("b"), series("a", Axis.tensor)]).map((list) => list.length), [2, 1]);
});

test("four curves of the system over time fold into one group, three do not", () => {
  const system = ["cpu", "memory", "clock", "power"].map((id) => [series(id)]);
  const other = [series("scaling", Axis.model, "threads")], tensors = [series("noise", Axis.tensor), series("noise", Axis.tensor)];
  const { single, folded } = arranged([...system, other, tensors]);
  assert.deepEqual(folded.map(({ over, charts }) => [over, charts.length]), [["time", 4]]);
  assert.deepEqual(single, [other, tensors]);
  assert.deepEqual(arranged(system.slice(1)).folded, []);
});

test("curves that differ in a number share a chart with a gap in its title", () => {
  const curve = (n: number, of: number = Axis.model) =>
    ({ ...series(`memory-${n}`, of), title: `memory for ${n} ${n === 1 ? "sequence" : "sequences"}`, y_title: "memory" });
  const [family, ...rest] = byMeaning([curve(1), curve(8), series("memory-x"), curve(3, Axis.tensor)]);
  assert.deepEqual([family!.map(({ id }) => id), rest.length], [["memory-1", "memory-8"], 2]);
  assert.equal(familyTitle(family!), "memory for … sequences");
  assert.equal(familyTitle([curve(8)]), undefined);
  assert.equal(familyTitle(byMeaning([series("a-1"), { ...series("a-2"), title: "two", y_title: "a-1" }])[0]!), "a-1");
});
