"""--full: every plugin that applies, a summary on the screen, the details in files."""
import json
import re
import unittest

from support import FIXTURES, HAVE_TORCH, MODELS, SANITIZED, CliTest, main, report, tmeter

RESNET = MODELS / "resnet50.pt2"
SCRIPTED = MODELS / "resnet50.scripted.pt"
# The trades of the Comprehensive PyTorch Model Analyzer, and a metric or rule of each.
TRADES = {"parameters": "params", "operators": "macs", "memory": "peak_activation_bytes", "energy": "energy",
          "precision": "sqnr_int8_channel", "pruning": "loss_at_50"}


class Full(CliTest):
    def document(self, *arguments):
        return report(*arguments, "-q")

    def test_full_uses_every_plugin_that_needs_no_run(self):
        full, every = (self.document(RESNET, word) for word in ("--full", "--plugins=all"))
        self.assertEqual(full["metrics"], every["metrics"])
        self.assertEqual(full["totals"], every["totals"])
        ids = {m["id"] for m in full["metrics"]}
        self.assertLessEqual(set(TRADES.values()), ids)

    def test_a_plugin_can_be_left_out(self):
        ids = {m["id"] for m in self.document(RESNET, "--full", "--plugins=-energy")["metrics"]}
        self.assertNotIn("energy", ids)
        self.assertIn("sqnr_int8_channel", ids)
        self.assertNotIn("energy_headroom", ids)  # of a plugin that needs it
        ids = {m["id"] for m in self.document(RESNET, "--full", "--plugins=-roofline")["metrics"]}
        self.assertFalse({"fusable_bytes", "batch_efficiency"} & ids)
        self.assertIn("energy", ids)

    def test_the_configuration_has_it(self):
        config = self.file("c.toml", "full = true\n")
        self.assertEqual(self.document(RESNET, "--config", config)["totals"], self.document(RESNET, "--full")["totals"])
        self.assert_refused(2, ["c2.toml:1:", "true or false"], RESNET, "--config", self.file("c2.toml", 'full = "yes"\n'))
        self.assert_refused(2, ["c3.toml:1:", "did you mean 'full'"], RESNET, "--config", self.file("c3.toml", "fulll = true\n"))

    def test_the_screen_has_a_summary_and_files_the_details(self):
        text, page = self.folder / "analysis.txt", self.folder / "report.html"
        done = tmeter(RESNET, "--full", "-r", text, "-r", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tmeter report of", text.read_text())  # the long report
        self.assertIn("<html", page.read_text()[:400].lower())
        for plugin in ("memory", "training", "flops"):
            self.assertRegex(done.stdout, rf"(?m)^{plugin}: ")
        self.assertIn("advice: ", done.stdout)
        self.assertNotIn("because", done.stdout)
        self.assertLess(len(done.stdout.splitlines()), 70)

    def test_quiet_leaves_the_screen_empty(self):
        done = tmeter(RESNET, "--full", "-q", "-r", self.folder / "report.json")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_requested_report_is_the_only_one_on_the_screen(self):
        done = tmeter(RESNET, "--full", "-r", "json", "-r", self.folder / "a.md")
        json.loads(done.stdout)

    def test_a_file_of_weights_alone_succeeds(self):
        checkpoints = sorted((FIXTURES / "checkpoints").glob("*.safetensors"))
        done = tmeter(checkpoints[0], "--full")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_full_needs_the_model_not_a_saved_report(self):
        saved = self.folder / "saved.json"
        self.assertEqual(tmeter(RESNET, "-q", "-r", saved).returncode, 0)
        self.assert_refused(2, ["--full", "needs the model"], "show", saved, "--full")
        config = self.file("c.toml", "full = true\n")
        done = tmeter("show", saved, "--config", config, "-r", self.folder / "out.json")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_advice_is_in_the_block_of_its_row(self):
        document = self.document(RESNET, "--full")
        named = 0
        for table in ("modules", "nodes", "tensors"):
            for i, row in enumerate(document[table]):
                key = {"modules": "module", "nodes": "node", "tensors": "tensor"}[table]
                expected = [n for n, f in enumerate(document["findings"]) if any(t.get(key) in (i, row.get("path"), row.get("name"))
                        for t in f["targets"] if key in t)]
                if table == "nodes":
                    self.assertEqual(row.get("findings", []), expected, row["op"])
                named += len(row.get("findings", []))
        self.assertGreater(named, 50)
        conv = next(n for n in document["nodes"] if n["op"] == "aten::conv2d")
        self.assertEqual(conv["parameters"], 64 * 3 * 7 * 7)
        text = tmeter(RESNET, "--full", "--report", "full-text").stdout
        block = text[text.index("Operators in the order"):][:3000]
        self.assertIn("parameters 9,408", block)
        self.assertRegex(block, r"(?m)^ +advice: .* \[fold-batch-norm\]|advice: ")

    def test_verbose_lists_the_steps(self):
        model = sorted((FIXTURES / "checkpoints").glob("*.safetensors"))[0]
        names = [t["name"] for t in self.document(model, "--plugins=param-stats")["tensors"]]
        messages = tmeter(model, "-v", "--plugins=param-stats", "--report", "json").stderr
        for name in names:
            self.assertRegex(messages, rf"(?m)^tmeter: read {re.escape(name)}: mean ")
        messages = tmeter(MODELS / "lstm.pt2", "-v", "--report", "json").stderr
        self.assertRegex(messages, r"(?m)^tmeter: done rnn: 3 operators, params 921.60 K, MACs 36.70 M")
        self.assertRegex(messages, r"(?m)^tmeter: done .*: 1 operator[,\n]")
        self.assertNotIn("done ", tmeter(MODELS / "lstm.pt2", "--report", "json").stderr)

    @unittest.skipIf(SANITIZED, "a sanitizer takes memory of its own")
    @unittest.skipUnless(HAVE_TORCH, "no LibTorch")
    def test_a_memory_limit_is_named_as_the_reason(self):
        done = tmeter(SCRIPTED, "--max-memory=30MB")
        self.assertEqual(done.returncode, 4)
        self.assertIn("takes more memory than --max-memory allows (28.6 MiB)", done.stderr)
        self.assertNotIn("map segment", done.stderr)
        self.assert_refused(4, ["there is not enough memory to read 'data.pkl': more than 64 MiB (--max-memory) is needed"],
                            SCRIPTED, "--max-memory=64MiB", "--inference")

    def test_one_dictionary_of_fvcore_alone(self):
        def written(dictionary, status=0):
            done = tmeter(RESNET, "--set", "flops.convention=fvcore", "--set", f"fvcore-json.what={dictionary}", "--report", "fvcore-json")
            self.assertEqual(done.returncode, status, done.stderr)
            return done
        self.assertEqual(json.loads(written("flops.by_operator").stdout),
                         json.loads((FIXTURES / "expected/resnet50.json").read_text())["fvcore"]["by_operator"])
        self.assertEqual(json.loads(written("flops.total").stdout), 4_111_512_576)
        for wrong in ("flop", "flops.by_modul", "flops.by_module.layer1", "flops..total"):
            line = written(wrong, 2).stderr.strip()
            self.assertEqual(len(line.splitlines()), 1)
            self.assertIn(f"fvcore-json.what={wrong}", line)

    def test_families_sum_up_to_the_whole(self):
        """ResNet-50: 53 convolutions with 23,454,912 weights, 53 norms with 53,120 scales and shifts, one linear layer."""
        rows = [line.split(",") for line in tmeter(RESNET, "--by", "family", "--report", "csv").stdout.splitlines()]
        table = {row[0]: dict(zip(rows[0], row)) for row in rows[1:]}
        self.assertEqual({k: v["layers"] for k, v in table.items()},
                         {"Other": "0", "Convolution": "53", "Normalization": "53", "Activation": "17", "Pooling": "2", "Linear": "1"})
        self.assertEqual(int(table["Convolution"]["params"]), 23_454_912)
        self.assertEqual(int(table["Normalization"]["params"]), 53_120)
        self.assertEqual(int(table["Linear"]["params"]), 2_049_000)
        self.assertEqual(int(table["Convolution"]["macs"]), 4_087_136_256)
        self.assertEqual(int(table["Linear"]["macs"]), 2_048_000)
        text = tmeter(RESNET, "--by", "family", "--depth", "2").stdout
        self.assertIn("Convolution ×53", text)
        self.assertIn("layer1.0.conv1", text)
        for model, family, count in (("transformer.pt2", "Attention", 6), ("lstm.pt2", "Recurrent", 1)):
            out = tmeter(MODELS / model, "--by", "family", "--report", "csv").stdout
            self.assertRegex(out, rf"(?m)^{family},{count},")
        self.assertIn("Layers by family and class", tmeter(RESNET, "--report", "full-text").stdout)
        self.assert_refused(2, ["--by famly", "did you mean 'family'"], RESNET, "--by", "famly")

    @unittest.skipUnless(HAVE_TORCH, "no LibTorch")
    def test_with_inference_everything_measures(self):
        page = self.folder / "report.json"
        done = tmeter(SCRIPTED, "--full", "--inference", "--run-for=3s", "-r", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        ids = {m["id"] for m in json.loads(page.read_text())["metrics"]}
        self.assertLessEqual({"infer_time", "measured_peak_bytes", "achieved_flops", "cpu_utilisation", "energy"}, ids)
        self.assertTrue(re.search(r"(?m)^latency: time ", done.stdout), done.stdout)


if __name__ == "__main__":
    main()
