// The rows on the screen, also where the table exceeds the largest height of an element in browsers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { contentHeight, poolSize, rowHeight, scrollTo, slots, windowOf } from "page/grid/virtual";

const viewport = 600;

test("only the rows on the screen are drawn", () => {
  const { first, last, top } = windowOf(100_000, 30_000, viewport);
  assert.ok(first <= 1000 && last >= 1020 && last - first < 40);
  assert.equal(top, first * rowHeight);
});

test("the first and the last of five million rows can be reached", () => {
  const count = 5_000_000, height = contentHeight(count);
  assert.ok(height < 17_000_000, "Firefox cannot show more");
  assert.equal(windowOf(count, 0, viewport).first, 0);
  const end = windowOf(count, height - viewport, viewport);
  assert.equal(end.last, count);
  const bottomOfLast = end.top + (count - end.first) * rowHeight;
  assert.ok(Math.abs(bottomOfLast - height) <= 1, "the last row ends where the content ends");
});

test("scrolling to a row brings it onto the screen, and does nothing if it is on it", () => {
  for (const count of [1000, 5_000_000]) {
    for (const row of [0, 1, Math.floor(count / 3), count - 1]) {
      const top = scrollTo(count, row, 0, viewport) ?? 0;
      const { first, last } = windowOf(count, top, viewport);
      assert.ok(row >= first && row < last, `row ${row} of ${count}`);
      assert.equal(scrollTo(count, row, top, viewport) ?? top, top);
    }
  }
});

test("every row on the screen has a slot, and keeps it while it is visible", () => {
  const pool = poolSize(viewport);
  const before = windowOf(1000, 3000, viewport), after = windowOf(1000, 3000 + 5 * rowHeight, viewport);
  const shown = (window: typeof before) => slots(window, pool).filter((position) => position >= 0).sort((a, b) => a - b);
  for (const window of [before, after, windowOf(1000, 3007, viewport), windowOf(20, 0, viewport)])
    assert.deepEqual(shown(window), Array.from({ length: window.last - window.first }, (_, i) => window.first + i));
  for (let position = after.first; position < before.last; ++position)
    assert.equal(slots(before, pool).indexOf(position), slots(after, pool).indexOf(position));
});
