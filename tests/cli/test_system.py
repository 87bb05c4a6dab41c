"""system: curves of the machine during runs, with an executor whose runs take 200 ms (clockwork_plugin.cpp).

The values depend on the machine; the test checks that they are reported.
"""
import json
import pathlib
import tempfile

from support import MODELS, CliTest, build_plugin, main, tmeter

TIED = MODELS / "tied.pt2"
PLUGINS = "--plugins=params,system,-torch-backend"


class System(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-system-")
        cls.addClassCleanup(built.cleanup)
        cls.clockwork = pathlib.Path(built.name) / "clockwork.tmeter"
        build_plugin("clockwork_plugin.cpp", cls.clockwork)

    def run_it(self, *more):
        return tmeter(TIED, "--inference", PLUGINS, "--plugin", self.clockwork, "--run-for=2s", *more,
                      env={"TMETER_CLOCKWORK": "slow"})

    def document(self, *more):
        done = self.run_it("--report=json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def provenance(self, document, metric):
        return next(m for m in document["metrics"] if m["id"] == metric)["provenance"]

    def test_this_machine_while_runs_go_on(self):
        document = self.document("--set", "system.interval=20ms")
        totals = document["totals"]
        self.assertTrue(0 <= totals["cpu_utilisation"] <= 1)
        self.assertGreater(totals["resident_peak"], 1 << 20)
        curves = {s["id"]: s for s in document["series"]}
        for name in ("cpu_utilisation", "cpu0_utilisation", "resident"):
            with self.subTest(curve=name):
                times = [x for x, _ in curves[name]["points"]]
                self.assertGreaterEqual(len(times), 2)
                self.assertEqual(times, sorted(set(times)))
        self.assertTrue(all(0 <= y <= 100 for _, y in curves["cpu_utilisation"]["points"]))
        self.assertIn("each 20ms", self.provenance(document, "resident_peak")["text"])
        self.assertEqual(self.provenance(document, "gpu_power")["text"], "the model runs on the CPU")

    def test_a_machine_without_readings(self):
        document = self.document("--set", f"system.sensors-root={self.folder}")
        self.assertEqual(document.get("series", []), [])
        for metric in ("cpu_utilisation", "resident_peak", "disk_read", "gpu_power"):
            self.assertIsNone(document["totals"][metric])
            self.assertEqual(self.provenance(document, metric)["kind"], "unavailable")

    def test_readings_are_those_of_the_sensors_root(self):
        """Constant files: no load, no faults, and a peak of 4 MiB."""
        for path, text in {"proc/stat": "cpu0 10 0 0 10 0 0 0 0\n", "proc/self/status": "VmHWM: 4096 kB\nVmRSS: 1024 kB\n",
                           "proc/cpuinfo": "cpu MHz\t\t: 2000.0\n"}.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        model = self.folder / "tied.pt2"
        model.write_bytes(TIED.read_bytes())  # the sandbox permits reading the model's folder
        done = tmeter(model, "--inference", PLUGINS, "--plugin", self.clockwork, "--run-for=2s", "--report=json",
                      "--set", f"system.sensors-root={self.folder}", env={"TMETER_CLOCKWORK": "slow"})
        self.assertEqual(done.returncode, 0, done.stderr)
        totals = json.loads(done.stdout)["totals"]
        self.assertEqual((totals["cpu_utilisation"], totals["resident_peak"], totals["cpu_frequency"]), (0, 4096 * 1024, 2e9))

    def test_wrong_intervals(self):
        for wrong in ("", "soon", "1ms", "100"):
            with self.subTest(interval=wrong):
                done = self.run_it("--set", f"system.interval={wrong}")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("system.interval", done.stderr)

    def test_without_a_run_the_missing_option_is_named(self):
        self.assert_refused(2, ["--inference"], "--plugins=system", TIED)


if __name__ == "__main__":
    main()
