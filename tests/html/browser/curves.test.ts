// Curves of plugins: which are folded, which are left out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { becomes, eventually, resnet, rewritten, withPage } from "./browser";
import { Axis } from "page/data/codes";
import type { Curves, Series, Summary } from "page/data/raw";

const curve = (id: string, points: number): Series => ({
  id, title: id, x_title: "time", x_unit: "s", y_title: id, y_unit: "W", of: [Axis.model, 0],
  x: [0, 1, 2].slice(0, points), y: [3, 4, 5].slice(0, points),
});

test("curves of the system are folded into one group, and one without points is left out", () => {
  const names = ["cpu", "memory", "clock", "power"];
  const counted = rewritten<Summary>(resnet(), "system-summary", "summary", (summary) => { summary.counts.series = 5; });
  const file = rewritten<Curves>(counted, "system", "curves", (curves) => {
    curves.series = [...names.map((name) => curve(name, 3)), curve("empty", 0)];
  });
  return withPage(file, { hash: "#charts" }, async ({ page }) => {
    const group = page.locator(".chart-group");
    await eventually(async () => assert.match(await group.innerText(), /4 curves over time\s+cpu, memory, clock, power/));
    assert.equal(await group.locator(".plot").count(), 0);
    await group.locator("summary").click();
    await becomes(() => group.locator(".chart h2").allInnerTexts(), names);
    await becomes(() => group.locator(".plot canvas").count(), 4);
  });
});
