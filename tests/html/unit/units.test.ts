// Numbers in readable units: the cases of tests/unit/sdk/units_test.cpp, calculated by hand there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { UnitKind } from "page/data/codes";
import { joined, kindOfUnit, percent, scaled, takesPrefix } from "page/format/units";

function expectTexts(kind: number, unit: string, cases: [number, string][]): void {
  for (const [value, text] of cases) assert.equal(joined(scaled(value, kind, unit)), text, `${value} ${unit}`);
}

test("counts step by thousands", () => {
  expectTexts(UnitKind.count, "", [
    [0, "0"], [1, "1"], [128, "128"], [999, "999"], [1000, "1.00 K"], [9408, "9.41 K"], [25557032, "25.56 M"],
    [4089184256, "4.09 G"], [1.5e12, "1.50 T"], [2e15, "2.00 P"], [9223372036854775807, "9.22 E"],
    [999994, "999.99 K"], [999996, "1.00 M"], [999.999, "1.00 K"], [0.5, "0.50"], [0.001, "0.001"],
    [-1500, "-1.50 K"], [-0, "0"],
  ]);
});

test("bytes step by 1024", () => {
  expectTexts(UnitKind.byte, "B", [[0, "0 B"], [1, "1 B"], [1023, "1023 B"], [1024, "1.00 KiB"], [-2048, "-2.00 KiB"],
    [102228128, "97.49 MiB"]]);
});

test("joules, seconds, ratios and rates", () => {
  expectTexts(UnitKind.joule, "J", [[0.0188, "18.80 mJ"], [-0.0188, "-18.80 mJ"], [1.2e-6, "1.20 µJ"]]);
  expectTexts(UnitKind.second, "s", [[0.0012, "1.20 ms"], [-90, "-1.50 min"], [7200, "2.00 h"]]);
  expectTexts(UnitKind.ratio, "", [[0.123, "12.30 %"], [1, "100.00 %"]]);
  expectTexts(UnitKind.other, "IPS", [[1234, "1.23 KIPS"]]);
  expectTexts(UnitKind.other, "Hz", [[2.6e9, "2.60 GHz"], [50, "50.00 Hz"]]);
  expectTexts(UnitKind.other, "FLOP/J", [[1.87e10, "18.70 GFLOP/J"]]);
  // By printf: %.3g, and %.2g below 0.005 of a unit with prefixes.
  expectTexts(UnitKind.other, "", [[0.000162, "0.000162"], [-0.00000430, "-4.3e-06"], [123456.7, "1.23e+05"], [1234567.5, "1.23e+06"], [99999.5, "99999.50"]]);
  expectTexts(UnitKind.count, "", [[0.00001, "1e-05"], [-0.000012345, "-1.2e-05"]]);
  expectTexts(UnitKind.other, "°C", [[71.5, "71.50 °C"]]);
  expectTexts(UnitKind.other, "dB", [[21.345, "21.34 dB"], [3, "3 dB"]]);
});

test("axes of a series have prefixes if its unit permits them", () => {
  assert.deepEqual(["B", "s", "W", "Hz", "FLOP/s", "dB", "%", "constructor", ""].filter(takesPrefix), ["B", "s", "W", "Hz", "FLOP/s"]);
  assert.deepEqual(["s", "Hz", "constructor"].map((unit) => joined(scaled(0.0005, kindOfUnit(unit), unit))), ["500.00 µs", "500.00 µHz", "0.0005 constructor"]);
});

test("infinite values and NaN have words of their own", () => {
  expectTexts(UnitKind.count, "", [[NaN, "nan"], [Infinity, "inf"], [-Infinity, "-inf"]]);
});

test("a share that is not 0 does not read as 0", () => {
  assert.deepEqual([0, 0.0001, 0.123, NaN].map(percent), ["0.0 %", "<0.1 %", "12.3 %", "–"]);
});
