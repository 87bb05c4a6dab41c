"""parallelism-advice on made-up machines, by hand: dynamic_mlp.pt2, float32, batch 4.

         weights                      the rest, which grows with the batch          moved
up       4·(64·256 + 256) = 66,560    4·4·64 + 4·4·256             = 5,120           71,680
gelu                                  2 · 4·4·256                  = 8,192            8,192
down     4·(256·10 + 10) = 10,280     4·4·256 + 4·4·10             = 4,256           14,536
all      76,840                                                     17,568           94,408

With 1 GB/s and no time for arithmetic and calls, n times the batch takes 76,840 + 17,568 n ns, an infinite one 17,568
n: 64 times the batch takes 1,201,192 ns; an infinite batch takes 1,124,352 for the same work (93.6 %); with 32 times it
is 88.0 %. 64 · 94,408 / 1,201,192 = 5.03 times the throughput. While gelu runs, 1,024 + 2 · 4,096 bytes of activations are
alive.
"""
from support import CliTest, FIXTURES, MODELS, build_plugin, main, report, tmeter

MLP = MODELS / "dynamic_mlp.pt2"
PLUGINS = "--plugins=parallelism-advice"
RULES = {"batch-headroom", "small-operators", "serial-operators"}
BYTES_ALONE = {"peak.mac.float32": 1e18, "peak.op.float32": 1e18, "peak.dram": 1e9}


class ParallelismAdvice(CliTest):
    def machine(self, **values):
        values = BYTES_ALONE | {key.replace("_", "."): value for key, value in values.items()}
        return self.file("made-up.toml", 'name = "made-up"\ntitle = "Made up"\n' + "".join(
            f'[{key}]\nvalue = {value}\nunit = "1/s"\nsource = "this test"\n' for key, value in values.items()))

    def findings(self, model=MLP, *arguments, **values):
        document = report(model, PLUGINS, "--hardware", self.machine(**values), *arguments)
        return document, {f["rule"]: f for f in document["findings"] if f["rule"] in RULES}

    def test_how_large_a_batch_pays(self):
        document, found = self.findings()
        self.assertEqual(set(found), {"batch-headroom"})
        self.assertAlmostEqual(document["totals"]["batch_efficiency"], 17_568 / 94_408, places=9)
        self.assertIn("a batch of 256 instead of 4 gives 5.0 times the throughput on made-up", found["batch-headroom"]["text"])
        evidence = found["batch-headroom"]["evidence"]
        self.assertIn("1.20 ms instead of 94.41 us a run, 93.6 % of the throughput of an infinite batch", evidence)
        self.assertIn("213.12 KIPS instead of 42.37 KIPS", evidence)  # 256 / 1,201,192 ns, 4 / 94,408 ns
        self.assertIn("651.04 KiB of memory", evidence)  # 76,840 + 64 · 9,216

    def test_the_time_of_the_larger_batch_is_that_of_the_roofline(self):
        document, _ = self.findings(MLP, "--input", "x=256x64")
        self.assertAlmostEqual(document["totals"]["predicted_time"] / 1_201_192e-9, 1, places=9)

    def test_the_bandwidth_of_a_class(self):
        """Products at 2 GB/s, gelu at 1: 38,420 + n (4,688 + 8,192) ns. 32 times: 450,580 ns, 91.5 %."""
        _, found = self.findings(bandwidth_matmul=2e9)
        self.assertIn("a batch of 128 instead of 4", found["batch-headroom"]["text"])
        self.assertIn("450.58 us", found["batch-headroom"]["evidence"])
        document, _ = self.findings(MLP, "--input", "x=128x64", bandwidth_matmul=2e9)
        self.assertAlmostEqual(document["totals"]["predicted_time"] / 450_580e-9, 1, places=9)

    def test_memory_limits_the_batch(self):
        """16 times: 76,840 + 16 · 9,216 bytes; 16 · 94,408 / (76,840 + 16 · 17,568) = 4.22."""
        _, found = self.findings(capacity_dram=76_840 + 16 * 9_216)
        self.assertIn("a batch of 64 instead of 4 gives 4.2 times", found["batch-headroom"]["text"])
        self.assertIn("219.04 KiB of 219.04 KiB of memory for weights and activations; without call overhead, because the profile has no overhead.operator; twice the batch does not fit", found["batch-headroom"]["evidence"])
        self.assertNotIn("batch-headroom", self.findings(capacity_dram=76_840 + 9_216)[1])

    def test_a_fully_used_machine_gets_no_advice(self):
        """Arithmetic of 1 us a MAC: the time for weights is negligible."""
        self.assertEqual(self.findings(peak_mac_float32=1e6)[1], {})

    def test_without_a_batch_there_is_no_advice_about_it(self):
        """Inputs with different first dims; the default profile has no rates."""
        document, found = self.findings(FIXTURES / "advice" / "attentions.pt2")
        self.assertNotIn("batch-headroom", found)
        self.assertEqual(document["totals_status"]["batch_efficiency"], "unavailable")
        self.assertIn("differ in their first dim", str(next(m["provenance"] for m in document["metrics"] if m["id"] == "batch_efficiency")))
        self.assertFalse(RULES & {f["rule"] for f in report(MLP, PLUGINS)["findings"]})

    def test_operators_that_take_longer_to_call(self):
        """gelu alone, 8.192 us: 18.192 of 94.408 + 30 us."""
        document, found = self.findings(overhead_operator=10e-6)
        finding = found["small-operators"]
        self.assertIn("1 operator takes longer to call than to run: 14.6 % of the predicted time", finding["text"])
        self.assertIn("10.00 us for each call; 1 × gelu in Mlp", finding["evidence"])
        change = next(c for c in finding["changes"] if c["metric"] == "predicted_time")
        self.assertAlmostEqual(change["from"] / 124.408e-6, 1, places=9)
        self.assertAlmostEqual(change["to"] / 114.408e-6, 1, places=9)
        self.assertNotIn("small-operators", self.findings(overhead_operator=8e-6)[1])

    def test_operators_that_are_too_small_for_threads(self):
        """gelu of 1,024 elements moves 8,192 bytes: 81.92 us at a thread's 100 MB/s. With a batch of 128 it has 32,768
        elements."""
        finding = self.findings(single_peak_dram=1e8)[1]["serial-operators"]
        self.assertIn("1 elementwise operator is too small for several threads: 81.92 us on one instead of 8.19 us on all, of 94.41 us", finding["text"])
        self.assertNotIn("serial-operators", self.findings(MLP, "--input", "x=128x64", single_peak_dram=1e8)[1])
        self.assertNotIn("serial-operators", self.findings()[1])  # the profile has no rate of a single thread

    def test_the_best_number_of_threads_as_measured(self):
        """The clock of the executor (clockwork_plugin.cpp) runs equally fast on any number of threads."""
        engine = self.folder / "clockwork.tmeter"
        build_plugin("clockwork_plugin.cpp", engine)
        scaled = (MLP, "--profile", "--plugin", engine, f"{PLUGINS},-torch-backend", "--set", "profile.scaling=true")
        found = {f["rule"]: f for f in report(*scaled, "--threads", "5")["findings"]}
        self.assertIn("fastest on 1 of 5 threads", found["thread-count"]["text"])
        self.assertIn("all 5 are 1.00 times as fast as one", found["thread-count"]["evidence"])
        for arguments in ((*scaled, "--threads", "1"), (MLP, PLUGINS)):
            self.assertNotIn("thread-count", {f["rule"] for f in report(*arguments)["findings"]})

    def test_files_of_weights_have_no_findings(self):
        done = tmeter(FIXTURES / "trained" / "model.safetensors", PLUGINS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("advice", done.stdout)


if __name__ == "__main__":
    main()
