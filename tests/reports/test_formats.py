"""Report formats of real models, from the command line to a third-party parser."""
import csv
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from support import FIXTURES, MODELS, SOURCE, CliTest, report, tmeter  # noqa: E402

RESNET = MODELS / "resnet50.pt2"
XSD = SOURCE / "docs/schema/tmeter-report-1.xsd"
FORMATS = ("text", "full-text", "json", "fvcore-json", "xml", "csv", "tsv", "markdown", "dot", "netron", "junit", "github")


def netron_folder():
    """The folder of Netron's JavaScript: TMETER_NETRON, or the Python package of that name."""
    if "TMETER_NETRON" in os.environ:
        return pathlib.Path(os.environ["TMETER_NETRON"])
    package = importlib.util.find_spec("netron")
    return pathlib.Path(package.origin).parent if package else None


class Formats(CliTest):
    def written(self, *arguments, status=0):
        done = tmeter(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def test_all_formats_from_one_run(self):
        files = {f: self.folder / f for f in FORMATS}
        done = tmeter(RESNET, "--assert", "macs<5G", *(x for f, p in files.items() for x in ("--report", f"{f}={p}")))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for f, path in files.items():
            self.assertGreater(path.stat().st_size, 50, f)

    def formats_of_this_build(self):
        """html needs Node.js to be built."""
        return [*FORMATS, *(["html"] if "html" in tmeter("plugin", "list").stdout else [])]

    def test_a_full_disk_is_reported_by_every_format_and_no_other_report_appears(self):
        beside = self.folder / "beside.json"
        pruned = FIXTURES / "pruned/before.pt2", FIXTURES / "pruned/after.pt2"
        # github writes lines only for assertions that fail.
        runs = [((MODELS / "tied.pt2", "--assert", "macs<1"), f) for f in self.formats_of_this_build()]
        runs += [(("diff", *pruned), f) for f in ("text", "json", "markdown", "html")]
        for arguments, f in runs:
            with self.subTest(run=arguments[0], format=f):
                done = tmeter(*arguments, "--report", f"{f}=/dev/full", "--report", f"json={beside}")
                self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
                self.assertIn("/dev/full cannot be written completely: No space left on device", done.stderr)
                self.assertFalse(beside.exists())

    def test_csv_and_json_agree(self):
        rows = list(csv.DictReader(io.StringIO(self.written(RESNET, "--report", "csv"), newline="")))
        modules = report(RESNET)["modules"]
        self.assertEqual([r["path"] for r in rows], [m["path"] for m in modules])
        for row, module in zip(rows[1:], modules[1:]):
            for metric, value in module["values"].items():
                self.assertEqual(float(row[metric]), value)

    def test_operators_add_up_to_the_total(self):
        rows = list(csv.DictReader(io.StringIO(self.written(RESNET, "--by", "operator", "--report", "csv"), newline="")))
        self.assertEqual(sum(int(r["macs"] or 0) for r in rows), report(RESNET)["totals"]["macs"])
        calls = self.written(RESNET, "--by", "operator", "--depth", "2", "--report", "tsv").splitlines()
        self.assertEqual(len(calls) - 1, sum(int(r["calls"]) for r in rows))

    def test_options_of_writers(self):
        self.assertIn("\n1,.conv1,", self.written(RESNET, "--report", "csv", "--set", "csv.leading-dot=true"))
        self.assertIn("rankdir=LR", self.written(RESNET, "--report", "dot", "--set", "dot.direction=LR"))
        drawn = self.written(RESNET, "--report", "dot", "--set", "dot.shape=ellipse", "--set", "dot.node-color=lightgray", "--set",
                             "dot.edge-color=red", "--set", 'dot.background=a"; x', "--set", "dot.arrows=false", "--set", "dot.direction=RL")
        for part in ('bgcolor="a\\"; x";', 'node [shape="ellipse" style=filled fillcolor="lightgray"', 'color="red" dir=none];', "rankdir=RL"):
            self.assertIn(part, drawn)
        self.assertIn("## PR 7", self.written(RESNET, "--report", "markdown", "--set", "markdown.title=PR 7"))
        self.assert_refused(2, ["dot.color", "no metric 'mac'"], RESNET, "--report", "dot", "--set", "dot.color=mac")
        self.assert_refused(2, ["TB LR"], RESNET, "--report", "dot", "--set", "dot.direction=UP")

    def test_xml_of_every_kind_of_model_is_valid(self):
        path = self.folder / "report.xml"
        for model, *arguments in (
                (RESNET, "--plugins=all"), (MODELS / "gpt2_like.pt2",), (MODELS / "ops_zoo.pt2",),
                (MODELS / "dynamic_mlp.pt2", "--sweep", "x.0=1,8,64"), (MODELS / "mixtral.pt2",),
                (FIXTURES / "checkpoints/types.safetensors", "--plugins=all"),
                (FIXTURES / "trained/model.safetensors", "--plugins=all")):
            self.written(model, *arguments, "--report", f"xml={path}")
            done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", XSD, path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{model}: {done.stderr[:2000]}")

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_graphviz_draws_modules_and_operators(self):
        for by in ("module", "operator"):
            text = self.written(MODELS / "mobilenet_v2.pt2", "--by", by, "--report", "dot")
            done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("<svg", done.stdout)
        self.assertIn("in0 -> n0;", text)

    def test_dot_folds_repeats_and_limits_its_nodes(self):
        folded = self.written(RESNET, "--report", "dot")
        self.assertIn('label="× 5"', folded)  # layer3.1 … layer3.5
        every = self.written(RESNET, "--report", "dot", "--no-fold")
        self.assertEqual(every.count("tooltip="), len(report(RESNET)["modules"]))
        few = self.written(RESNET, "--report", "dot", "--no-fold", "--set", "dot.nodes=10")
        self.assertEqual(few.count("tooltip="), 10)
        self.assertIn("more modules: --depth all", few)

    def test_markdown_has_totals_assertions_and_heaviest_modules(self):
        text = self.written(RESNET, "--report", "markdown", "--assert", "macs<=5G", "--assert", "coverage==100%")
        for word in ("## ResNet", "25,557,032", "4,089,184,256", "0 unknown", "✅", "Heaviest modules (10 of ", "<details>"):
            self.assertIn(word, text)


class Assertions(CliTest):
    BOUNDS = ("--assert", "macs<=4G", "--assert", 'module("layer4").macs < 1G', "--assert", "unknown==0")

    def test_all_are_evaluated_and_shown_with_their_values(self):
        done = tmeter(RESNET, *self.BOUNDS, "--report", "junit")
        self.assertEqual(done.returncode, 3)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("'macs<=4G' (macs is 4.089 G)", lines[0])
        self.assertNotIn("unknown==0", lines[0])
        suite = ElementTree.fromstring(done.stdout).find("testsuite")
        self.assertEqual([c.get("name") for c in suite.findall("testcase")], list(self.BOUNDS[1::2]))
        self.assertEqual(suite.findall("testcase")[0].find("failure").get("message"), "macs is 4,089,184,256")

    def test_the_json_report_has_them(self):
        done = tmeter(RESNET, *self.BOUNDS, "--report", "json")
        found = json.loads(done.stdout)["assertions"]
        self.assertEqual(found[0], {"expression": "macs<=4G", "subject": "macs", "comparison": "<=", "value": 4089184256,
                                    "limit": 4000000000, "holds": False})
        layer4 = next(m for m in report(RESNET)["modules"] if m["path"] == "layer4")
        self.assertEqual(found[1]["value"], layer4["values"]["macs"])
        self.assertEqual(found[2]["value"], 0)
        self.assertNotIn("assertions", report(RESNET))

    def test_github_annotations(self):
        done = tmeter(RESNET, "--assert", "macs<=4G", "--report", "github")
        self.assertEqual(done.stdout, "::error title=tmeter resnet50.pt2::macs<=4G does not hold: macs is 4,089,184,256\n")

    def test_a_wrong_module_is_wrong_usage(self):
        self.assert_refused(2, ["no module 'layer9'", "did you mean 'layer"], RESNET, "--assert", "module('layer9').macs<1")


@unittest.skipUnless(shutil.which("node") and netron_folder(), "Node.js or Netron is not installed (pip install netron)")
class Netron(CliTest):
    """Netron's own code opens the model and the attachment, and finds every value."""

    def opened(self, model, *arguments):
        path = self.folder / "attachment.json"
        self.assertEqual(tmeter(model, *arguments, "--report", f"netron={path}").returncode, 0)
        check = pathlib.Path(__file__).with_name("netron_check.mjs")
        done = subprocess.run(["node", check, netron_folder(), model, path], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_exported_program(self):
        shown = self.opened(RESNET)
        self.assertEqual(shown["model"]["MACs"], "4,089,184,256")
        self.assertEqual(shown["nodes"]["conv2d"]["MACs"], "118,013,952 (2.9 % of the model)")
        lost = [name for name, values in shown["nodes"].items() if "MACs" not in values]
        self.assertEqual(lost, [])
        self.assertEqual(shown["tensors"]["fc.weight"]["params"], "2,048,000 (8.0 % of the model)")

    def test_weights_alone(self):
        shown = self.opened(FIXTURES / "checkpoints/net.safetensors")
        self.assertTrue(any("params" in values for values in shown["nodes"].values()), shown)


if __name__ == "__main__":
    unittest.main(verbosity=2)
