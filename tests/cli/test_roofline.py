"""roofline compared with values calculated by hand, on made-up machines.

dynamic_mlp.pt2: x [4, 64] → up: Linear(64, 256) → gelu → down: Linear(256, 10), float32, 4 bytes each.

          MACs               other operations   bytes read                              written    moved
up        4·64·256 = 65,536  4·256 = 1,024      4·(4·64 + 64·256 + 256) = 67,584        4·4·256    71,680
gelu      0                  (a rule of flops)  4·4·256 = 4,096                         4·4·256     8,192
down      4·256·10 = 10,240  4·10 = 40          4·(4·256 + 256·10 + 10) = 14,376        4·4·10     14,536
"""
import json

from support import CliTest, FIXTURES, main, report, tmeter

MLP = FIXTURES / "models" / "dynamic_mlp.pt2"
PLUGINS = "--plugins=roofline"
TIMES = ("predicted_time", "memory_bound", "overhead_bound", "arithmetic_time", "memory_time", "overhead_time")


class Roofline(CliTest):
    def machine(self, **values):
        """A profile with these values; `_` represents `.`."""
        text = 'name = "made-up"\ntitle = "Made up"\n'
        for key, value in values.items():
            text += f'[{key.replace("_", ".")}]\nvalue = {value}\nunit = "1/s"\nsource = "this test"\n'
        return self.file("made-up.toml", text)

    def run_on(self, *arguments, **values):
        document = report(MLP, PLUGINS, "--hardware", self.machine(**values), *arguments)
        return document, {module["path"]: module["values"] for module in document["modules"]}

    def assert_close(self, value, expected):
        self.assertAlmostEqual(value / expected, 1, places=9)

    def test_an_operator_takes_the_longer_of_arithmetic_and_memory_and_its_overhead(self):
        # up: 65,536 + 1,024 operations at 1e9/s: 66.56 us; 71,680 B at 1e9 B/s: 71.68 us, at 2e9: 35.84 us
        rates = {"peak_mac_float32": 1e9, "peak_op_float32": 1e9}
        for bandwidth, longer, bound in ((1e9, 71.68e-6, 1), (2e9, 66.56e-6, 0)):
            with self.subTest(bandwidth=bandwidth):
                _, modules = self.run_on(peak_dram=bandwidth, overhead_operator=10e-6, **rates)
                up = modules["up"]
                self.assert_close(up["arithmetic_time"], 66.56e-6)
                self.assert_close(up["memory_time"], 71_680 / bandwidth)
                self.assert_close(up["overhead_time"], 10e-6)
                self.assert_close(up["predicted_time"], longer + 10e-6)
                self.assertEqual(up["memory_bound"], bound)
                self.assertEqual(up["overhead_bound"], 0)

    def test_without_the_time_of_a_call_the_prediction_is_marked_as_a_lower_bound(self):
        rates = {"peak_mac_float32": 1e9, "peak_op_float32": 1e9, "peak_dram": 1e9}
        document, _ = self.run_on(**rates)
        provenance = {m["id"]: m["provenance"] for m in document["metrics"]}
        self.assertIn("a lower bound: the profile has no time for an operator's call", provenance["predicted_time"]["text"])
        for metric in ("overhead_time", "overhead_bound"):
            self.assertEqual(provenance[metric]["kind"], "unavailable")
            self.assertIsNone(document["totals"][metric])
        text = tmeter(MLP, PLUGINS, "--hardware", self.machine(**rates)).stdout
        self.assertIn("a lower bound", " ".join(text.split()))
        bound = document["totals"]["predicted_time"]
        document, _ = self.run_on(overhead_launch=4e-6, **rates)
        provenance = {m["id"]: m["provenance"] for m in document["metrics"]}
        self.assertIn("(overhead.operator), whose launch alone takes 4.00 us", provenance["predicted_time"]["text"])
        self.assert_close(document["totals"]["overhead_time"], 3 * 4e-6)
        self.assertEqual(document["totals"]["predicted_time"], bound)
        document, _ = self.run_on(overhead_operator=0, overhead_launch=4e-6, **rates)
        provenance = {m["id"]: m["provenance"] for m in document["metrics"]}
        self.assertNotIn("lower bound", provenance["predicted_time"]["text"])
        self.assertEqual(document["totals"]["overhead_bound"], 0)

    def test_a_module_takes_as_long_as_its_operators_and_its_shares_are_weighted_by_time(self):
        # Arithmetic takes practically no time: 71,680 + 8,192 + 14,536 B at 1e9 B/s. The overhead of 10 us exceeds only
        # gelu's 8.192 us.
        document, _ = self.run_on(peak_mac_float32=1e15, peak_op_float32=1e15, peak_dram=1e9, overhead_operator=10e-6)
        totals = document["totals"]
        seconds = {"up": 81.68e-6, "gelu": 18.192e-6, "down": 24.536e-6}
        self.assert_close(totals["predicted_time"], sum(seconds.values()))
        self.assert_close(totals["memory_bound"], (seconds["up"] + seconds["down"]) / sum(seconds.values()))
        self.assert_close(totals["overhead_bound"], seconds["gelu"] / sum(seconds.values()))

    def test_intensity_needs_no_machine_and_is_all_operations_over_all_bytes(self):
        document = report(MLP, PLUGINS)
        modules = {module["path"]: module["values"] for module in document["modules"]}
        self.assert_close(modules["up"]["arithmetic_intensity"], (2 * 65_536 + 1_024) / 71_680)
        self.assert_close(modules["down"]["arithmetic_intensity"], (2 * 10_240 + 40) / 14_536)
        totals = document["totals"]
        self.assertEqual(totals["traffic_bytes"], 71_680 + 8_192 + 14_536)
        self.assertIsInstance(totals["traffic_bytes"], int)
        self.assert_close(totals["arithmetic_intensity"], (2 * 75_776 + totals["other_flops"]) / totals["traffic_bytes"])

    def test_operators_are_below_the_ceilings(self):
        # At most 2e9 FLOP/s; 1e9 B/s reach them from 2 FLOP/B on, 4e9 B/s of matrix products from 0.5 on.
        rates = {"peak_mac_float32": 1e9, "peak_op_float32": 1e9, "peak_dram": 1e9}
        memory = ("roofline of float32 and memory", [[1 / 64, 1e9 / 64], [2, 2e9], [16384, 2e9]])
        caches = ("roofline of float32 and caches", [[1 / 64, 4e9 / 64], [0.5, 2e9], [16384, 2e9]])
        for more, roofs in (({}, [memory]), ({"bandwidth_matmul": 4e9}, [memory, caches]), ({"bandwidth_matmul": 5e8}, [memory])):
            document, modules = self.run_on(**rates, **more)
            self.assertEqual([(s["title"], s["points"]) for s in document["series"]], roofs)
            for s in document["series"]:
                self.assertEqual(s["id"], "roofline")
                self.assertEqual(s["x"], {"title": "intensity", "unit": "FLOP/B"})
                self.assertEqual(s["y"], {"title": "attainable arithmetic/s", "unit": "FLOP/s"})
            bandwidth = 4e9 if caches in roofs else 1e9
            for node in document["nodes"]:
                values = node["values"]
                roof = min(2e9, values["arithmetic_intensity"] * bandwidth)
                self.assertLessEqual(values["attainable_flops"], roof * (1 + 1e-9), node["op"])
        document, modules = self.run_on(overhead_operator=10e-6, **rates)
        self.assert_close(modules["up"]["attainable_flops"], (2 * 65_536 + 1_024) / 81.68e-6)
        totals = document["totals"]
        self.assert_close(totals["attainable_flops"], (2 * 75_776 + totals["other_flops"]) / totals["predicted_time"])

    def test_rates_that_cannot_be_drawn_give_no_ceiling(self):
        usual = {"peak_mac_float32": 1e9, "peak_op_float32": 1e9, "peak_dram": 1e9}
        for key in ("peak_mac_float32", "peak_dram"):
            for rate in (0.0, 1e-320, 1.7e308):
                with self.subTest(key=key, rate=rate):
                    document, _ = self.run_on(**{**usual, key: rate})
                    for s in document["series"]:
                        self.assertTrue(all(0 < y < float("inf") for _, y in s["points"]), s)

    def test_a_profile_without_rates_gives_a_reason_instead_of_times(self):
        """horowitz-45nm has no clock; a bandwidth or a rate of MACs alone is not enough either."""
        for arguments, name in (([], "horowitz-45nm"), (["--hardware", self.machine(peak_dram=1e9)], "made-up"),
                                (["--hardware", self.machine(peak_mac_float32=1e9)], "made-up")):
            document = report(MLP, PLUGINS, *arguments)
            provenance = {m["id"]: m["provenance"] for m in document["metrics"]}
            for metric in TIMES:
                self.assertIsNone(document["totals"][metric], metric)
                self.assertEqual(document["totals_status"][metric], "unavailable")
                self.assertIn(f"hardware profile '{name}' has no peak rates", str(provenance[metric]))

    def test_an_element_type_without_a_rate_has_no_time(self):
        done = tmeter(MLP, PLUGINS, "--hardware", self.machine(peak_mac_float16=1e9, peak_op_float16=1e9, peak_dram=1e9), "--report", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        warnings = json.loads(done.stdout)["warnings"]
        self.assertEqual(warnings, ["hardware profile 'made-up' has no values for float32 nor for a wider type: the predicted time "
                                    "of such operators is unavailable"])

    def test_impossible_rates_are_not_used(self):
        for plugin, more in (("roofline", {}), ("energy", {"power_static": 1.0, "energy_mac_float32": 1e-12, "energy_op_float32": 1e-12})):
            machine = self.machine(peak_mac_float32=1e-320, peak_op_float32=1e9, peak_dram=1e-320, **more)
            done = tmeter(MLP, f"--plugins={plugin}", "--hardware", machine, "--report", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("rates so small that nothing would ever end", str(json.loads(done.stdout)["warnings"]))
        for word in ("nan", "inf", "-1.0"):
            done = tmeter(MLP, PLUGINS, "--hardware", self.machine(peak_dram=word))
            self.assertNotIn(done.returncode, (1, 5), done.stderr)

    def test_a_size_that_changes_the_bound_has_no_polynomial(self):
        """max(…) of two lines has no polynomial; the values at given sizes are exact."""
        rates = {"peak_mac_float32": 1e9, "peak_op_float32": 1e15, "peak_dram": 1e9}
        document, _ = self.run_on(**rates)
        self.assertNotIn("predicted_time", {formula["metric"] for formula in document["formulas"]})
        for rows in (1, 64):
            swept, _ = self.run_on("--input", f"x={rows}x64", **rates)
            times = [max(rows * 64 * 256, 4 * (rows * 64 + 64 * 256 + 256 + rows * 256)), 4 * 2 * rows * 256,
                     max(rows * 256 * 10, 4 * (rows * 256 + 256 * 10 + 10 + rows * 10))]
            self.assertAlmostEqual(swept["totals"]["predicted_time"] * 1e9 / sum(times), 1, places=6)


if __name__ == "__main__":
    main()
