"""--only trainable: the modules with trainable parameters, in every table of modules and in drawings."""
import csv
import io
import json
import re

from support import MODELS, CliTest, main, report, tmeter

RESNET = MODELS / "resnet50.pt2"
GPT2 = MODELS / "gpt2_like.pt2"


class Only(CliTest):
    def trainable(self, model):
        return [m["path"] for m in report(model)["modules"] if not m["path"] or m["values"].get("params_trainable")]

    def frozen(self, model, *beginnings):
        """A saved report in which the tensors of these modules are frozen."""
        document = report(model)
        for tensor in document["tensors"]:
            if tensor["name"].startswith(beginnings):
                tensor["trainable"] = False
        path = self.folder / "frozen.json"
        path.write_text(json.dumps(document))
        return path

    def paths(self, *arguments):
        done = tmeter(*arguments, "--only", "trainable", "--report", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [row["path"] for row in csv.DictReader(io.StringIO(done.stdout))]

    def ids(self, text):
        return re.findall(r"(?m)^([\d.–]+) +(?:[│ ]*[├└]─|ResNet)", text)

    def test_rows_are_modules_with_trainable_parameters(self):
        for model in (RESNET, GPT2, MODELS / "tied.pt2"):
            self.assertEqual(self.paths(model), self.trainable(model), model.name)

    def test_text_has_only_trainable_modules_and_counts_the_others(self):
        text = tmeter(RESNET, "--only", "trainable", "--depth", "all", "--no-fold").stdout
        for hidden in ("ReLU", "MaxPool2d", "AdaptiveAvgPool2d"):
            self.assertNotIn(hidden, text)
        # The model, 53 convolutions + 53 norms, 1 linear layer + 4 stages + 16 blocks + 4 sequences of the shortcuts.
        self.assertEqual(len(self.ids(text)), 132)
        self.assertIn("19 modules are without trainable parameters and left out (--only trainable)", text)
        self.assertNotIn("modules below", text)
        self.assertIn("repeat 2 ×", tmeter(RESNET, "--only", "trainable").stdout)

    def test_frozen_members_of_a_run_are_left_out_of_it(self):
        saved = self.frozen(RESNET, "layer3.0", "layer3.1", "layer3.2", "layer1", "conv1", "bn1")
        text = tmeter("show", saved, "--only", "trainable", "--depth", "2").stdout
        ids = self.ids(text)
        self.assertEqual([i for i in ids if i.startswith("7")], ["7", "7.4", "7.5", "7.6"])
        self.assertNotIn("5", ids)
        drawing = tmeter("show", saved, "--only", "trainable", "--report", "dot").stdout
        for path, drawn in (("layer3.0", False), ("layer3.2", False), ("layer3.3", True), ("layer1", False), ("layer2.0", True)):
            self.assertEqual(f'tooltip="{path}"' in drawing, drawn, path)
        self.assertNotIn("more modules", drawing)
        self.assertEqual(self.paths("show", saved)[:2], ["", "layer2"])
        parts = tmeter("show", saved, "--only", "trainable", "--report", "markdown").stdout
        self.assertIn("`layer2`", parts)
        self.assertNotIn("`maxpool`", parts)

    def test_a_frozen_model_is_reduced_to_its_root(self):
        saved = self.frozen(RESNET, "")
        self.assertEqual(self.paths("show", saved), [""])
        self.assertEqual(tmeter("show", saved, "--only", "trainable", "--report", "dot").stdout.count("tooltip="), 1)
        self.assertEqual(tmeter("show", saved, "--only", "trainable").returncode, 0)

    def test_conflicting_options_are_refused(self):
        self.assert_refused(2, ["--only frozen", "trainable"], RESNET, "--only", "frozen")
        self.assert_refused(2, ["--only", "--by operator"], RESNET, "--only", "trainable", "--by", "operator")


if __name__ == "__main__":
    main()
