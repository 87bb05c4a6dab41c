// Rows on the screen, also where the table is higher than a browser can make an element.
import assert from "node:assert/strict";
import { test } from "node:test";
import { contentHeight, rowHeight, scrollTo, windowOf } from "page/grid/virtual";

const viewport = 600;

test("a screen of rows is drawn, not all", () => {
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

test("scrolling to a row brings it onto the screen, and does nothing when it is there", () => {
  for (const count of [1000, 5_000_000]) {
    for (const row of [0, 1, Math.floor(count / 3), count - 1]) {
      const top = scrollTo(count, row, 0, viewport) ?? 0;
      const { first, last } = windowOf(count, top, viewport);
      assert.ok(row >= first && row < last, `row ${row} of ${count}`);
      assert.equal(scrollTo(count, row, top, viewport) ?? top, top);
    }
  }
});
