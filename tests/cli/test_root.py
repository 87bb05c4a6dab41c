"""--root: the report of one module, as if it were the whole model."""
import json
import unittest

from support import FIXTURES, HAVE_TORCH, MODELS, CliTest, main, report, tmeter

RESNET = MODELS / "resnet50.pt2"
PLUGINS = "--plugins=params,flops,memory,energy,activations"
WRITERS = ("text", "full-text", "json", "xml", "csv", "tsv", "markdown", "html", "dot", "netron", "fvcore-json", "junit", "github")
# Metrics of a module's operators and tensors that do not depend on the module's place.
OWN = ("params", "params_trainable", "buffers", "param_bytes", "macs", "flops", "activations", "output_bytes", "written_bytes")


class Root(CliTest):
    def same_as_in_the_whole(self, model, paths=None):
        """Totals of a part are the values of the module in the whole."""
        whole = report(model, PLUGINS)
        rows = {m["path"]: m for m in whole["modules"]}
        for path in paths or [p for p in rows if p]:
            part = report(model, PLUGINS, "--root", path)
            for metric in OWN:
                of_module = rows[path]["values"].get(metric)
                of_part = part["totals"].get(metric)
                self.assertEqual(of_part or 0, of_module or 0, f"{model.name} {path} {metric}")
            inside = [p for p in rows if p == path or p.startswith(path + ".")]
            self.assertEqual([m["path"] for m in part["modules"]], [p[len(path):].lstrip(".") for p in inside])
            self.assertEqual(part["modules"][0]["id"], "0")

    def test_convolutions_attention_recurrence_and_tied_weights(self):
        self.same_as_in_the_whole(RESNET, ["layer1", "layer1.0", "layer4.2.conv3", "fc", "avgpool"])
        self.same_as_in_the_whole(MODELS / "lstm.pt2")
        self.same_as_in_the_whole(MODELS / "tied.pt2")
        self.same_as_in_the_whole(MODELS / "gpt2_like.pt2")

    def test_sizes_left_open_stay_open(self):
        model = MODELS / "dynamic_bert.pt2"
        whole = report(model)
        path = next(m["path"] for m in whole["modules"] if m["values"].get("macs") and m["path"].count(".") == 1)
        formulas = {f["metric"]: f["text"] for f in whole["formulas"] if f["module"] == path}
        part = {f["metric"]: f["text"] for f in report(model, "--root", path)["formulas"] if f["module"] in ("", None)}
        self.assertTrue(formulas)
        for metric, text in formulas.items():
            self.assertEqual(part[metric], text)

    def test_an_id_may_replace_a_path(self):
        self.assertEqual(report(RESNET, "--root", "5.1")["totals"], report(RESNET, "--root", "layer1.0")["totals"])
        self.assertEqual(report(RESNET, "--root", ".layer1")["totals"], report(RESNET, "--root", "5")["totals"])
        self.assertEqual(report(RESNET, "--root", "0")["totals"], report(RESNET)["totals"])

    def test_bounds_and_shares_are_of_the_part(self):
        self.assertEqual(tmeter(RESNET, "--root", "fc", "--assert", "macs==2048000", "--assert", "params==2049000").returncode, 0)
        self.assertEqual(tmeter(RESNET, "--root", "layer1", "--assert", 'module("0").macs<1').returncode, 3)
        self.assert_refused(2, ["no module 'layer1.0'"], RESNET, "--root", "layer1", "--assert", 'module("layer1.0").macs<1')
        text = tmeter(RESNET, "--root", "layer1").stdout
        self.assertIn("module layer1", text)
        self.assertEqual(text.count("repeat 2 ×"), 1, text)  # the second and third block
        unfolded = tmeter(RESNET, "--root", "layer1", "--set", "text.fold-from=3").stdout
        self.assertNotIn("repeat", unfolded)

    def test_placeholders_equal_the_json_report(self):
        rows = {m["id"]: m for m in report(RESNET)["modules"]}
        label = "<node_id>|<parent>|<childs>|<children>|<repeat_winsz>|<repeat_time>|"
        text = tmeter(RESNET, "--no-fold", "--depth", "all", "--columns", "none",
                      "--set", f"text.level.all.label={label}").stdout
        printed = {parts[0].split()[-1]: parts for parts in (line.split("|")[-7:] for line in text.splitlines()) if len(parts) == 7}
        for key in ("1", "5", "5.1", "5.1.8", "5.1.8.1"):
            parent = rows[rows[key]["parent"]]
            self.assertEqual(printed[key][1:4], [f"{parent['id']} {parent['name'] or 'ResNet'}", ", ".join(rows[key]["children"]),
                                                 str(len(rows[key]["children"]))], key)

    def test_every_format_reports_the_part(self):
        for writer in WRITERS:
            done = tmeter(RESNET, "--root", "layer4.1", "--report", writer)
            self.assertEqual(done.returncode, 0, f"{writer}: {done.stderr}")
            self.assertNotIn("layer3", done.stdout.replace("layer3.", ""), writer)

    def test_a_saved_report_has_parts(self):
        saved, again = self.folder / "saved.json", self.folder / "again.json"
        tmeter(RESNET, PLUGINS, "-r", saved)
        shown = json.loads(tmeter("show", saved, "--root", "layer2", "--report", "json").stdout)
        made = report(RESNET, PLUGINS, "--root", "layer2")
        for metric in OWN:
            self.assertEqual(shown["totals"].get(metric), made["totals"].get(metric), metric)
        self.assertEqual([m["path"] for m in shown["modules"]], [m["path"] for m in made["modules"]])
        self.assertEqual([m["text"] for m in shown["modules"]], [m["text"] for m in made["modules"]])
        again.write_text(json.dumps(shown))
        self.assertEqual(tmeter("show", again).returncode, 0)  # a report like any other
        self.assert_refused(2, ["--root layer9", "did you mean"], "show", saved, "--root", "layer9")

    def test_weights_alone_have_parts(self):
        model = sorted((FIXTURES / "checkpoints").glob("*.safetensors"))[0]
        path = next(m["path"] for m in report(model)["modules"] if m["path"])
        self.assertGreater(report(model, "--root", path)["totals"]["params"], 0)

    def test_a_missing_module_is_refused_in_one_line(self):
        self.assert_refused(2, ["--root layr1", "did you mean 'layer1'?"], RESNET, "--root", "layr1")
        for wrong in ("5.99", "5.", "5..1", "x.y", "-1", "99999999999999999999", "0.1"):
            self.assert_refused(2, ["there is no module"], RESNET, f"--root={wrong}")
        self.assert_refused(2, ["--root"], "diff", RESNET, RESNET, "--root", "fc")

    @unittest.skipUnless(HAVE_TORCH, "no LibTorch")
    def test_the_whole_model_runs_and_the_part_is_reported(self):
        document = report(MODELS / "resnet50.pt2", "--root", "layer1", "--inference", "--run-for=2s")
        self.assertAlmostEqual(document["totals"]["time_share"], 1, delta=1e-9)
        self.assertGreater(document["totals"]["op_time"], 0)
        self.assertNotIn("infer_time", {k for k, v in document["totals"].items() if v is not None})
        self.assert_refused(2, ["--root", "--sweep"], MODELS / "dynamic_bert.pt2", "--root", "0", "--inference", "--sweep", "s0=1,2")


if __name__ == "__main__":
    main()
