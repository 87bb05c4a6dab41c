// Values given for whole module calls, and the sums they are part of.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Answers } from "page/data/answers";
import { aggregate } from "page/data/cell";
import { Aggregation } from "page/data/codes";

// Call 0 makes 1 and 3; 1 makes 2. Calls 2 and 3 have values of metric 5; call 3 also has one of metric 6.
const answers = new Answers({ calls: { module: [0, 1, 2, 2], parent: [-1, 0, 1, 0] }, answers: [[2, 5, 70], [3, 5, 7], [3, 6, "?"]] });

test("a call's values are those of the call and of the calls it makes", () => {
  assert.deepEqual(answers.calls, [2, 3]);
  assert.equal(answers.cell(3, 5), 7);
  assert.equal(answers.cell(0, 5), null);
  assert.deepEqual(answers.inside(0, 5), [70, 7]);
  assert.deepEqual(answers.inside(1, 5), [70]);
  assert.deepEqual(answers.inside(3, 6), ["?"]);
});

test("nested calls add nothing to the values of a call", () => {
  assert.equal(aggregate(["^", 1, "^", ...answers.inside(0, 5)], Aggregation.sum), 78);
  assert.equal(aggregate(["^", "^"], Aggregation.sum), "^");
});
