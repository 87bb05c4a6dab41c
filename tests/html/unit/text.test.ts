// Names from model files: shown, copied and linked without harm.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bounded, shortened, visible } from "page/format/text";
import { harmless, tsv } from "page/format/tsv";
import { formatRoute, parseRoute, type Route } from "page/state/route";
import { matcher } from "page/views/filters";

test("invisible characters are made visible", () => {
  assert.equal(visible("a\u0000b\nc\u001b[31m"), "a␀b␊c␛[31m");
  assert.equal(visible("gpj.\u202eexe"), "gpj.\\u202eexe", "text must not run backwards");
  assert.equal(visible("größe 层"), "größe 层");
});

test("long names are shortened in the middle", () => {
  const text = shortened("a".repeat(500_000) + "b".repeat(500_000), 41);
  assert.equal(text, `${"a".repeat(20)}…${"b".repeat(20)}`);
  assert.match(bounded("x".repeat(1_000_000)), /… and 980,000 more characters$/);
});

test("copied rows stay rows, and spreadsheets see no formulas", () => {
  assert.equal(tsv([["a\tb", "c\nd"], ["=1+1", "-x"], ["-1.5", "@x"]]), "a b\tc d\n'=1+1\t'-x\n-1.5\t'@x\n");
});

test("every beginning of a formula is protected, and no number is", () => {
  for (const text of ["=1", "+A1", "-A1", "@x", "-1+cmd|'/C calc'!A0", "+1+A1", " =1", "\u200b=1", "\u00a0\u3000@x", "＝1", "－x", "\u0000=1", "-", "-1 A1", "-1(2)"])
    assert.equal(harmless(text), `'${text}`);
  for (const text of ["-1", "+2", "-1.5", "-1,024", "-1.2 MB", "-3e-05", "+12 %", "-0.5 GB/s", "-3 µs", "2-1", "a=b", "", "x y", "n/a", "−1"])
    assert.equal(harmless(text), text);
});

test("addresses encode their view", () => {
  const routes: Route[] = [
    { view: "modules" },
    { view: "map", selection: { kind: "module", name: "a.b & c=d?#%" }, metric: "macs", zoom: "x y" },
    { view: "tensors", selection: { kind: "tensor", name: "</script><img src=x onerror=alert(1)>" } },
    { view: "operators", selection: { kind: "operator", name: "17" } },
  ];
  for (const route of routes) assert.deepEqual(parseRoute(formatRoute(route)), route);
});

test("an invalid address leads to the modules", () => {
  assert.deepEqual(parseRoute("#nonsense?x=%"), { view: "modules" });
  assert.deepEqual(parseRoute(""), { view: "modules" });
});

test("a search finds words in any order", () => {
  const matches = matcher("CONV layer1");
  assert.ok(matches("layer1.0.conv1 Conv2d"));
  assert.ok(!matches("layer2.0.conv1"));
});
