"""--inference with an executor whose clock is known (clockwork_plugin.cpp) and a third-party observer
(diary_plugin.cpp): the host's promises to both, and its messages if either breaks the contract.

Tied has three operators. On the clock operator i takes i + 1 µs, so a run takes 1 + 2 + 3 = 6 µs. A run with events of
operators takes another µs for each: 9 µs, 50 % more.
"""
import json
import os
import pathlib
import re
import tempfile

from support import MODELS, CliTest, build_plugin, main, tmeter

TIED = MODELS / "tied.pt2"


class Runs(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-runs-")
        cls.addClassCleanup(built.cleanup)
        cls.plugins = []
        for name in ("clockwork", "diary"):
            library = pathlib.Path(built.name) / f"{name}.tmeter"
            build_plugin(f"{name}_plugin.cpp", library)
            cls.plugins += ["--plugin", library]

    def run_it(self, *more, clockwork="", diary="", model=TIED, plugins=None):
        return tmeter(model, "--inference", *(self.plugins if plugins is None else plugins), *more,
                      env={"TMETER_CLOCKWORK": clockwork, "TMETER_DIARY": diary})

    def document(self, *more, status=0, **kwargs):
        done = self.run_it("--report", "json", "--plugins=-torch-backend", *more, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr)
        self.messages = done.stderr
        return json.loads(done.stdout)

    def totals(self, document):
        return {metric: value for metric, value in document["totals"].items()}

    def test_times_are_those_of_the_clock(self):
        document = self.document()
        totals = document["totals"]
        self.assertAlmostEqual(totals["infer_time"], 6e-6, delta=1e-12)
        self.assertAlmostEqual(totals["op_time"], 6e-6, delta=1e-12)
        self.assertAlmostEqual(totals["throughput"], 5 / 6e-6, delta=1)  # tokens: i64[5]
        self.assertAlmostEqual(totals["observing_cost"], 9 / 6 - 1, delta=1e-9)
        self.assertAlmostEqual(totals["time_share"], 1, delta=1e-12)
        times = [o["values"]["op_time"] for o in document["nodes"]]
        for i, time in enumerate(times):
            self.assertAlmostEqual(time, (i + 1) * 1e-6, delta=1e-12)

    def test_observers_get_the_requested_runs(self):
        totals = self.document()["totals"]
        self.assertGreaterEqual(totals["diary_operators"], 4)
        self.assertEqual(totals["diary_memory"], 2)   # in two rounds
        self.assertEqual(totals["diary_threads"], 1)  # one on three threads
        self.assertEqual(totals["diary_bytes"], 2 * (1100 + 1200 + 1300))
        self.assertEqual(totals["diary_seen"], 3)

    def test_memory_follows_the_events_of_the_allocator(self):
        """Operator i takes 100 (i + 1) B for its result and another 1000 B temporarily; the previous result is freed
        after it. The input is 5 × 8 B = 40 B. Levels: 40, 140 (+ 1000), 140 + 200 (+ 1000), less 100, 240 + 300 (+
        1000), less 200."""
        document = self.document()
        values = [node["values"] for node in document["nodes"]]
        self.assertEqual([v["measured_peak_bytes"] for v in values], [1140, 1340, 1540])
        self.assertEqual([v["allocated_bytes"] for v in values], [1100, 1200, 1300])
        self.assertEqual([v["freed_bytes"] for v in values], [1000, 1100, 1200])
        self.assertEqual([v["workspace_bytes"] for v in values], [1000, 1000, 1000])
        totals = document["totals"]
        self.assertEqual((totals["measured_peak_bytes"], totals["allocated_bytes"], totals["freed_bytes"]), (1540, 3600, 3300))
        findings = [f for f in document["findings"] if f["rule"] == "peak-differs"]
        self.assertEqual(len(findings), 1)
        self.assertIn("250.0 % more", findings[0]["text"])  # the graph alone gives 440 B: 1540 / 440 = 3.5

    def profiled(self, *more):
        done = tmeter(TIED, "--profile", *self.plugins, "--plugins=-torch-backend", "--report", "json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_rates_are_work_by_time(self):
        """Time is 1, 2, 3 µs. Embedding: no arithmetic, 200 B + 160 B. Norm: 80 operations, 288 + 160 B. Linear: 2 × 480
        and 60 for the bias, 592 + 240 B. The whole run: 1100 operations and 1640 B in 6 µs."""
        document = self.profiled()
        values = [node["values"] for node in document["nodes"]]
        for value, flops, traffic in zip(values, (0, 80 / 2e-6, 1020 / 3e-6), (360 / 1e-6, 448 / 2e-6, 832 / 3e-6)):
            self.assertAlmostEqual(value["achieved_flops"], flops, delta=1)
            self.assertAlmostEqual(value["achieved_bandwidth"], traffic, delta=1)
        self.assertAlmostEqual(document["totals"]["achieved_flops"], 1100 / 6e-6, delta=1)
        self.assertAlmostEqual(document["totals"]["achieved_bandwidth"], 1640 / 6e-6, delta=1)
        self.assertGreater(document["totals"]["cpu_time"], 0)
        provenance = {m["id"]: m["provenance"] for m in document["metrics"]}
        self.assertEqual(provenance["cpu_time"]["kind"], "measured")
        self.assertEqual(provenance["parallel_efficiency"]["kind"], "unavailable")
        self.assertIn("profile.scaling=true", provenance["parallel_efficiency"]["text"])
        self.assertEqual(provenance["of_roofline"]["kind"], "unavailable")
        for metric in ("cycles", "cache_misses"):  # on any machine: measured, or a reason
            self.assertTrue(provenance[metric]["kind"] == "measured" or provenance[metric]["text"])

    def test_measurements_are_compared_with_predictions(self):
        document = self.profiled("--hardware", "nvidia-a100")
        for node in document["nodes"]:
            v = node["values"]
            self.assertAlmostEqual(v["of_roofline"], v["predicted_time"] / v["op_time"], delta=1e-9)

    def test_faster_than_the_roofline_is_a_warning_without_a_value(self):
        slow = self.file("slow.toml", 'name = "slow"\ntitle = "Slow"\n' + "".join(
            f'[{key}]\nvalue = 1\nunit = "1/s"\nsource = "this test"\n' for key in ("peak.mac.float32", "peak.op.float32", "peak.dram")))
        document = self.profiled("--hardware", slow)
        self.assertTrue(all(node["values"]["of_roofline"] is None for node in document["nodes"]))
        finding = next(f for f in document["findings"] if f["rule"] == "faster-than-roofline")
        self.assertEqual(finding["severity"], "warning")
        self.assertIn("faster than the least time on hardware profile 'slow'", finding["text"])

    def test_scaling_with_threads(self):
        """The clock runs equally fast on any number of threads: the efficiency of 5 threads is a fifth."""
        document = self.profiled("--set", "profile.scaling=true", "--threads", "5")
        self.assertAlmostEqual(document["totals"]["parallel_efficiency"], 1 / 5, delta=1e-9)
        self.assertEqual(document["totals"]["best_threads"], 1)
        series = next(s for s in document["series"] if s["id"] == "scaling")
        self.assertEqual([x for x, _ in series["points"]], [1, 2, 4, 5])

    def test_samples_are_taken_while_runs_go_on(self):
        self.assertEqual(self.document("--run-for", "1s", clockwork="slow")["totals"]["diary_sampled"], 1)

    def test_facts_are_in_the_report(self):
        facts = self.document("--seed", "7", "--threads", "2", "--input-file", f"tokens={TIED}")["run"]
        self.assertEqual(facts["engine"], "clockwork")
        self.assertEqual(facts["weights"], "952 bytes")  # 4 tensors: the tied one has its own entry
        self.assertEqual(facts["inputs"], f"tokens:{TIED};")
        self.assertEqual(facts["device"], "cpu")
        self.assertEqual(facts["threads"], "2")
        self.assertEqual(facts["warm-up"], "3")

    def test_without_inference_nothing_is_run(self):
        done = tmeter(TIED, "--plugins=all", "--report", "json", *self.plugins)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertNotIn("run", document)
        for metric in ("infer_time", "op_time", "diary_seen"):
            self.assertNotIn(metric, document["totals"])
            self.assertNotIn(metric, [m["id"] for m in document["metrics"]])
        self.assert_refused(2, ["'latency' measures runs"], TIED, "--plugins=latency")
        for option in (["--device", "cpu"], ["--input-file", "x"], ["--op-library", "x"], ["--seed", "1"], ["--run-for", "1s"]):
            self.assert_refused(2, [option[0], "goes with --inference"], TIED, *option)

    def test_bad_options(self):
        for option, words in ((["--seed", "many"], "whole number"), (["--run-for", "soon"], "--run-for"),
                              (["--input-file", "=x.npy"], "[NAME=]FILE")):
            self.assert_refused(2, [words], TIED, "--inference", *option)
        done = self.run_it("--device", "cuda:9", "--plugins=-torch-backend")
        self.assertEqual(done.returncode, 2)
        self.assertIn("this machine has no cuda:9", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_measurements_before_an_exception_are_kept(self):
        document = self.document(status=6, clockwork="throws")  # in the third run after warm-up
        self.assertIn("aten::batch_norm of fc: it throws", self.messages)
        self.assertIn("aten::batch_norm of fc: it throws", document["run"]["stopped"])
        self.assertTrue(any("ended early" in w for w in document["warnings"]), document["warnings"])
        self.assertEqual(document["totals"]["params"], 124)
        self.assertAlmostEqual(document["totals"]["infer_time"], 6e-6, delta=1e-12)

    def test_ctrl_c_writes_the_measurements(self):
        document = self.document(status=130, clockwork="interrupt")
        self.assertIn("interrupted; the report has the values until then", self.messages)
        self.assertEqual(document["run"]["stopped"], "interrupted")
        self.assertAlmostEqual(document["totals"]["infer_time"], 6e-6, delta=1e-12)

    def test_a_crash_is_reported_with_the_engine(self):
        done = self.run_it("--plugins=-torch-backend", clockwork="crashes")
        self.assertEqual((done.returncode, done.stdout), (6, ""))
        self.assertIn("clockwork crashed (segmentation fault)", done.stderr)

    def test_a_run_without_end_is_ended(self):
        done = self.run_it("--timeout", "2", "--plugins=-torch-backend", clockwork="hangs")
        self.assertEqual((done.returncode, done.stdout), (6, ""))
        self.assertIn("clockwork did not finish within 2 s (--timeout)", done.stderr)

    def test_a_run_longer_than_the_whole_time(self):
        document = self.document("--run-for", "0.1", clockwork="slow")
        self.assertAlmostEqual(document["totals"]["infer_time"], 0.2 + 9e-6, delta=1e-5)  # the run with events of operators
        self.assertTrue(any("--run-for" in w for w in document["warnings"]), document["warnings"])

    def test_no_executor_runs_the_model(self):
        for how, words in (("declines", "does not run this one"), ("cannot", "it has no such operator")):
            document = self.document(status=6, clockwork=how)
            self.assertIn(words, self.messages)
            self.assertNotIn("infer_time", {m for m, v in document["totals"].items() if isinstance(v, (int, float))})
            self.assertEqual(document["totals"]["params"], 124)
        done = self.run_it("--plugins=-torch-backend", plugins=[])
        self.assertEqual(done.returncode, 6)
        self.assertIn("no plugin that runs models is installed", done.stderr)

    def test_an_executor_that_breaks_its_contract(self):
        for how, words in (("no-node", "an operator event names no operator"),
                           ("no-bytes", "a memory event has -100 bytes"),
                           ("cut-event", "its tmeter_event is too small: struct_size is"),
                           ("backwards", "ns began after that, at"), ("no-end", "a run has no end"),
                           ("two-ends", "an event comes after the end of its run"),
                           ("huge", "a run allocates and frees more than 2^63 bytes"),
                           ("two-begins", "a run begins twice"),
                           ("no-begin", "an operator ends that has not begun"),
                           ("overlap", "an operator begins before the current one has ended"),
                           ("mixed", "an operator ends that has not begun"),
                           ("open", "a run ends before one of its operators"),
                           ("earlier", "an event at 7 ns is reported after one at"),
                           ("kind-of-run", "an event of kind 2 does not belong to a run of kind 1"),
                           ("no-such-node", "an event names a node that the graph does not have"),
                           ("late-fact", "facts of the runs are reported in `prepare` of an executor"),
                           ("late-weights", "an executor gets weights in `prepare`"),
                           ("early", "events belong to runs of the model")):
            with self.subTest(how):
                self.document(status=6, clockwork=how)
                self.assertRegex(self.messages, "com.acme.clockwork failed while .*: .*" + re.escape(words))
                self.assertNotIn("com.acme.diary", self.messages)

    def test_events_of_an_unknown_kind_are_ignored(self):
        document, as_ever = self.document(clockwork="unknown-kind"), self.document()
        self.assertEqual(document["totals"]["diary_seen"], as_ever["totals"]["diary_seen"])

    def test_an_observer_that_fails_costs_its_own_values(self):
        for how, words in (("throws", "the pen is dry"), ("crashes", "segmentation fault"),
                           ("wants-what", "runs of kind 7 are not known"),
                           ("reads-early", "'op_time' has no values before the model has been run")):
            with self.subTest(how):
                document = self.document(status=5, diary=how)
                self.assertIn("com.acme.diary", self.messages)
                self.assertIn(words, self.messages)
                self.assertAlmostEqual(document["totals"]["infer_time"], 6e-6, delta=1e-12)
        document = self.document("--run-for", "1s", status=5, diary="sample-throws", clockwork="slow")
        self.assertIn("no ink", self.messages)
        self.assertIn("infer_time", document["totals"])

    def test_missing_observations_are_unavailable(self):
        document = self.document(diary="says-nothing")
        self.assertNotIsInstance(document["totals"].get("diary_seen"), (int, float))

    def test_weights_alone_cannot_be_run(self):
        weights = next(p for p in sorted((MODELS.parent / "checkpoints").glob("*.pt")))
        self.assert_refused(2, ["--inference", "holds weights only"], weights, "--inference")


if __name__ == "__main__":
    main()
