"""Measured energy: furnace_plugin.cpp uses a known energy; the report must show it, and the right share at each
operator.

Tied has three operators: a run takes 10 + 20 + 30 = 60 ms, and 6 J of the package and 3 J of its memory: 150 W.
"""
import json
import pathlib
import tempfile

from support import BUILD, MODELS, CliTest, build_plugin, main, tmeter

TIED = MODELS / "tied.pt2"
PLUGINS = "--plugins=flops,energy,-torch-backend"
MEASURED = ("measured_energy", "measured_power", "idle_power", "measured_flops_per_joule", "measured_co2")
JOULES_PER_KWH = 3.6e6


class MeasuredEnergy(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-furnace-")
        cls.addClassCleanup(built.cleanup)
        cls.furnace = pathlib.Path(built.name) / "furnace.tmeter"
        build_plugin("furnace_plugin.cpp", cls.furnace)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def zone(self, zone, name, microjoules):
        self.write(f"sys/class/powercap/{zone}/name", name + "\n")
        self.write(f"sys/class/powercap/{zone}/max_energy_range_uj", "262143328850\n")
        return self.write(f"sys/class/powercap/{zone}/energy_uj", f"{microjoules}\n")

    def sensors(self, start=1_000_000):
        self.zone("intel-rapl:0", "package-0", start)
        self.zone("intel-rapl:0:0", "dram", start)

    def run_it(self, *more, wrong="", options=("energy.attribution=time",), status=0, **env):
        sets = [part for option in (f"energy.sensors-root={self.folder}", *options) for part in ("--set", option)]
        done = tmeter(TIED, "--inference", PLUGINS, "--plugin", self.furnace, *sets, "--report=json", *more,
                      env={"TMETER_FURNACE": str(self.folder), "TMETER_FURNACE_WRONG": wrong, **env})
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def provenance(self, document, metric):
        return next(m for m in document["metrics"] if m["id"] == metric)["provenance"]

    def test_a_known_energy_is_attributed_correctly(self):
        self.sensors()
        document = self.run_it()
        totals = document["totals"]
        self.assertAlmostEqual(totals["measured_energy"], 9, delta=1e-6)
        self.assertAlmostEqual(totals["measured_power"], 150, delta=1e-4)
        self.assertEqual(totals["idle_power"], 0)  # no energy between runs
        for i, node in enumerate(document["nodes"]):
            self.assertAlmostEqual(node["values"]["measured_energy"], 1.5 * (i + 1), delta=1e-6)
        self.assertAlmostEqual(totals["measured_flops_per_joule"], (2 * totals["macs"] + totals["other_flops"]) / 9, delta=1e-3)
        provenance = self.provenance(document, "measured_energy")
        self.assertEqual(provenance["kind"], "measured")
        for word in ("RAPL by powercap", "package-0", "dram of package-0", "runs", "uncertain by"):
            self.assertIn(word, provenance["text"])
        # the estimate is reported as well
        self.assertEqual(self.provenance(document, "energy")["kind"], "estimated")
        self.assertGreater(totals["energy"], 0)

    def test_a_counter_overflow_does_not_change_the_energy(self):
        self.sensors(start=262_143_328_850 - 20_000_000)  # 20 J before the end
        self.assertAlmostEqual(self.run_it()["totals"]["measured_energy"], 9, delta=1e-6)

    def test_without_a_memory_counter_the_package_alone_is_measured(self):
        self.zone("intel-rapl:0", "package-0", 0)
        document = self.run_it()
        self.assertAlmostEqual(document["totals"]["measured_energy"], 6, delta=1e-6)
        self.assertNotIn("dram", self.provenance(document, "measured_energy")["text"])

    def test_two_packages_are_added(self):
        self.sensors()
        self.zone("intel-rapl:1", "package-1", 77)  # an idle package
        document = self.run_it()
        self.assertAlmostEqual(document["totals"]["measured_energy"], 9, delta=1e-6)
        self.assertIn("package-1", self.provenance(document, "measured_energy")["text"])

    def test_grams_of_the_measured_energy(self):
        self.sensors()
        document = self.run_it(options=("energy.co2=400", "energy.attribution=time"))
        self.assertAlmostEqual(document["totals"]["measured_co2"], 9 / JOULES_PER_KWH * 400, delta=1e-9)

    def test_shares_by_processor_time_add_up_to_the_whole(self):
        self.sensors()
        document = self.run_it(options=())
        shares = [node["values"]["measured_energy"] for node in document["nodes"]]
        self.assertAlmostEqual(sum(shares), 9, delta=1e-6)

    def assert_unavailable(self, document, *words):
        for metric in MEASURED:
            self.assertIsNone(document["totals"].get(metric))
            provenance = self.provenance(document, metric)
            self.assertEqual(provenance["kind"], "unavailable")
            for word in words:
                self.assertIn(word, provenance["text"])
        self.assertEqual(self.provenance(document, "energy")["kind"], "estimated")

    def test_without_sensors_every_metric_is_unavailable_with_the_reason(self):
        self.assert_unavailable(self.run_it(), "no energy counters", "powercap", "power has no energy events")

    def test_a_counter_that_vanishes_or_becomes_invalid(self):
        for wrong in ("vanish", "garbage"):
            with self.subTest(wrong=wrong):
                self.sensors()
                self.assert_unavailable(self.run_it(wrong=wrong), "package-0", "became unreadable")

    def test_constant_counters_measure_nothing(self):
        self.sensors()
        self.assert_unavailable(self.run_it("--run-for=1s", wrong="still"), "did not change")

    def test_energy_of_the_processors_is_not_reported_as_the_gpus(self):
        self.sensors()
        counter = self.write("gpu_energy_mj", "1000\n")
        document = self.run_it("--device=cuda:0", options=("energy.nvml=libnot-there.so",))
        self.assert_unavailable(document, "libnot-there.so")

    def test_temperature_and_slow_downs(self):
        self.sensors()
        self.write("sys/class/hwmon/hwmon0/name", "coretemp\n")
        self.write("sys/class/hwmon/hwmon0/temp1_input", "61500\n")
        self.write("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "5\n")
        totals = self.run_it()["totals"]
        self.assertEqual((totals["throttled"], totals["temperature"]), (0, 61.5))

    def test_a_gpu_is_added_to_the_processors(self):
        """9 J of the processors and 2 + 4 + 6 J of the GPU, whose counter is assumed to step every 100 ms."""
        self.sensors()
        counter = self.write("gpu_energy_mj", "1000\n")
        document = self.run_it("--device=cuda:0", "--run-for=60s", wrong="gpu",
                               options=(f"energy.nvml={BUILD / 'tests' / 'stub_nvml.so'}",),
                               STUB_NVML_COUNT="1", STUB_NVML_ENERGY=str(counter), STUB_NVML_TEMPERATURE="70", STUB_NVML_REASONS="64")
        self.assertAlmostEqual(document["totals"]["measured_energy"], 21, delta=1e-4)
        self.assertAlmostEqual(document["nodes"][2]["values"]["measured_energy"], 10.5, delta=1e-4)
        self.assertEqual(document["totals"]["temperature"], 70)
        self.assertIn("GPU 0 (Stub GPU)", self.provenance(document, "measured_energy")["text"])
        self.assertIn("thermal, by hardware", self.provenance(document, "throttled")["text"])

    def test_without_a_run_there_are_no_measured_columns(self):
        done = tmeter(TIED, "--plugins=flops,energy", "--report=json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse({m["id"] for m in json.loads(done.stdout)["metrics"]} & set(MEASURED))


if __name__ == "__main__":
    main()
