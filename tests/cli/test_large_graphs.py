"""Large .pt2 files, whose lists are read piece by piece: their reports equal those of small files.

Spaces between items do not change a file. The graphs of make_large.py are copies of one layer, so two small graphs,
which are read as a whole, give the values that each layer adds.
"""
import io
import json
import os
import subprocess
import sys
import unittest
import zipfile

from support import FIXTURES, MODELS, SANITIZED, SOURCE, CliTest, main, report, tmeter

sys.path.insert(0, str(SOURCE / "tests" / "bench"))
import make_large  # noqa: E402

NO_THREADS = """
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *), void *of) {
  return EAGAIN;
}
"""
SPACES = " " * 150_000  # longer than a piece, so neighbouring items come in different pieces
# The lists that are split in large documents.
LISTS = ("nodes", "inputs", "tensor_values", "config", "input_specs", "module_call_graph")
FILES = [MODELS / f"{name}.pt2" for name in (
    "cond", "dynamic_bert", "dynamic_mlp", "tied", "gru", "no_grad_wrap", "ops_zoo",
    "versions/gpt2_like.torch2.6", "versions/gpt2_like.torch2.8", "versions/resnet18.torch2.8")]
FILES += [FIXTURES / "weight_forms/net.pt2", FIXTURES / "trained/model.pt2", FIXTURES / "in_house/dynamic.pt2"]


def with_spaces(document):
    """Its JSON text with spaces around and between some items of these lists."""
    text = json.dumps(document)
    module = document.get("graph_module", {})
    for name in LISTS:
        for holder in (document, module, module.get("graph", {}), module.get("signature", {})):
            if holder.get(name):
                text = text.replace(f'"{name}": {json.dumps(holder[name])}', f'"{name}": {blown_up(holder[name])}', 1)
    return text


def blown_up(value):
    text = json.dumps(value)
    items = [f"{json.dumps(key)}: {json.dumps(item)}" for key, item in value.items()] if isinstance(value, dict) else \
        [json.dumps(item) for item in value]
    step = max(1, len(items) // 4)
    items = [item + (SPACES if i % step == 0 or i == len(items) - 1 else "") for i, item in enumerate(items)]
    return text[0] + SPACES + ", ".join(items) + text[-1]


def rewritten(path, change):
    """The archive with replaced texts of its JSON records."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith(".json") and data.startswith(b"{"):
                data = change(name, data.decode()).encode()
            target.writestr(name, data)
    return out.getvalue()


def essence(document):
    """The report without the file's size and the time it took."""
    document["model"].pop("size")
    document.pop("timing")
    return json.dumps(document)


class ReadInPieces(CliTest):
    def large(self, path):
        return self.file("model.pt2", rewritten(path, lambda _, text: with_spaces(json.loads(text))))

    def test_a_file_with_spaces_is_the_same_file(self):
        for path in FILES:
            with self.subTest(file=path.stem):
                plain = self.file("model.pt2", rewritten(path, lambda _, text: text))
                expected = essence(report(plain))
                self.assertEqual(essence(report(self.large(path))), expected)

    def test_tables_in_any_order_are_the_same_file(self):
        """Readers mostly read tensors, weights and parameters in the order in which torch writes them. These tables have another order."""
        def reordered(document):
            for table in (document.get("graph_module", {}).get("graph", {}), document):
                for name in ("tensor_values", "config"):
                    items = list(table.get(name, {}).items())
                    if items:
                        table[name] = dict(items[::-2] + items[-2::-2])
            return document

        for path in (MODELS / "gpt2_like.pt2", MODELS / "tied.pt2", MODELS / "versions/gpt2_like.torch2.6.pt2"):
            with self.subTest(file=path.stem):
                plain = self.file("model.pt2", rewritten(path, lambda _, text: text))
                expected = essence(report(plain))
                other = self.file("model.pt2", rewritten(path, lambda _, t: with_spaces(reordered(json.loads(t)))))
                self.assertEqual(essence(report(other)), expected)

    def test_rare_arguments_are_equal_in_a_large_file(self):
        """Arguments and nodes that are read as documents, and traces and lists longer than the recorded part."""
        extra = [
            {"name": "device", "arg": {"as_device": {"type": "cuda", "index": 3}}, "kind": 1},
            {"name": "text", "arg": {"as_string": 'a"b\\c'}, "kind": 1},
            {"name": "low", "arg": {"as_float": float("-inf")}, "kind": 1},
            {"name": "some", "arg": {"as_floats": [float("nan"), 1.5]}, "kind": 1},
            {"name": "new", "arg": {"as_new_thing": {"zz": [1, 2]}}, "kind": 1},
            {"name": "many", "arg": {"as_ints": list(range(100))}, "kind": 1},
            {"name": "rest", "arg": {"as_optional_tensors": [{"as_none": True}]}, "kind": 1},
        ]

        def with_rare_things(document):
            nodes = document.get("graph_module", {}).get("graph", {}).get("nodes", [])
            for i, node in enumerate(nodes):
                node["inputs"].append(extra[i % len(extra)])
                node["metadata"]["stack_trace"] = f'File "n\u00e4.py", line {i}, in f\n' + "y" * (i % 3 * 5000)
                if i % 5 == 0:
                    node["later"] = {"a": [1]}
            return document

        path = MODELS / "gpt2_like.pt2"
        small = self.file("small.pt2", rewritten(path, lambda _, t: json.dumps(with_rare_things(json.loads(t)))))
        large = self.file("large.pt2", rewritten(path, lambda _, t: with_spaces(with_rare_things(json.loads(t)))))
        expected = report(small)
        self.assertIn("n\u00e4.py:3", [node.get("location") for node in expected["nodes"]])
        self.assertEqual(essence(report(large)).replace("large.pt2", "small.pt2"), essence(expected))

    def test_sizes_that_follow_from_symbols_can_be_bound(self):
        path = MODELS / "dynamic_mlp.pt2"
        symbol = report(path)["symbols"][0]["name"]
        for binding in (f"{symbol}=7", f"{symbol}=64"):
            expected = report(path, "--bind", binding)
            self.assertEqual(report(self.large(path), "--bind", binding)["totals"], expected["totals"])

    def test_inputs_of_other_sizes(self):
        path = MODELS / "dynamic_mlp.pt2"
        self.assertEqual(report(self.large(path), "--input", "9x64")["totals"],
                         report(path, "--input", "9x64")["totals"])


class ManyLayers(CliTest):
    def graph(self, nodes):
        path = self.folder / f"{nodes}.pt2"
        return make_large.write_large(nodes, path), path

    def test_every_layer_adds_the_same(self):
        made = [self.graph(nodes) for nodes in (1, 40, 6000)]  # metrics are evaluated in blocks, lists are read ahead
        documents = [report(path) for _, path in made]
        nodes = [count for count, _ in made]
        step = nodes[1] - nodes[0]
        layers = (nodes[2] - nodes[0]) // step
        self.assertGreater(layers, 100)
        self.assertGreater(made[2][1].stat().st_size, 4_000_000)
        for metric in ("params", "macs", "flops", "read_bytes", "output_bytes", "param_bytes"):
            one, two, many = (document["totals"][metric] for document in documents)
            self.assertEqual(many, one + layers * (two - one), metric)
        one, two, many = (len(document["modules"]) for document in documents)
        self.assertEqual(many, one + layers * (two - one))
        counted = [document["coverage"] for document in documents]
        self.assertEqual([c["unknown_ops"] for c in counted], [[], [], []])

    def test_two_threads_write_the_rows_of_one(self):
        count, path = self.graph(14000)
        large, small = report(path), report(self.graph(40)[1])
        modules = large["modules"]
        self.assertGreater(len(modules), 4096)  # smaller reports are written by one thread

        # Ids follow from the paths, in pre-order: the n-th child of X is X.n, the n-th of the root n.
        ids, children = {"": "0"}, {}
        for module in modules[1:]:
            parent = module["path"].rpartition(".")[0]
            siblings = children.setdefault(ids[parent], [])
            ids[module["path"]] = (f"{ids[parent]}." if parent else "") + str(len(siblings) + 1)
            siblings.append(ids[module["path"]])
        for module in modules:
            self.assertEqual(module["id"], ids[module["path"]])
            self.assertEqual(module["children"], children.get(module["id"], []))
            parent = None if not module["path"] else ids[module["path"].rpartition(".")[0]]
            self.assertEqual(module["parent"], parent)

        # A layer's operators and tensors have the values that they have in a small graph.
        self.assertEqual([n["index"] for n in large["nodes"]], list(range(count)))
        self.assertEqual([t["index"] for t in large["tensors"]], list(range(len(large["tensors"]))))
        of_layer = {}
        for node in small["nodes"]:
            if (node["module"] or "").startswith("h.1."):
                of_layer.setdefault((node["op"], node["module"][len("h.1"):]), node["values"])
        compared = 0
        for node in large["nodes"]:
            _, layer, part = ((node["module"] or "").split(".", 2) + ["", ""])[:3]
            if layer and (expected := of_layer.get((node["op"], "." + part))) and node["op"] == "aten::linear":
                predicted = {"predicted_peak_bytes", "predicted_workspace_bytes"}  # beyond 10,000 operators on request
                self.assertEqual(node["values"], {k: v for k, v in expected.items() if k not in predicted}, node["module"])
                compared += 1
        self.assertGreater(compared, 1000)
        weights = {t["name"].split(".", 2)[2]: t["values"] for t in small["tensors"] if t["name"].startswith("h.1.")}
        for tensor in large["tensors"]:
            if tensor["name"].startswith("h."):
                self.assertEqual(tensor["values"], weights[tensor["name"].split(".", 2)[2]], tensor["name"])

    def without_threads(self):
        source, library = self.file("none.c", NO_THREADS), self.folder / "none.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        return {**os.environ, "LD_PRELOAD": str(library)}

    def test_an_overflowing_sum_is_reported_in_graphs_of_any_size(self):
        """Sizes of a batch of 200 million: each operator's count fits 63 bits, their sum does not.

        A linear layer of 256 to 768 has 2e8 x 32 x 256 x 768 = 1.3e15 MACs, 1.3e18 bit operations of float32 (x 32 x 32);
        eight of them exceed 2^63 = 9.2e18. The FLOPs of 1,660 layers do, too: 2 x 786,432 x 32 x 2e8 = 1.0e16 each.
        """
        batch = 200_000_000
        messages = set()
        for nodes in (6000, 40000):
            _, path = self.graph(nodes)
            huge = self.file(f"huge{nodes}.pt2", rewritten(path, lambda _, text: text.replace(
                '"sizes": [{"as_int": 2}', f'"sizes": [{{"as_int": {batch}}}')))
            for environment in (None,) if SANITIZED else (None, self.without_threads()):  # a sanitizer's library must be loaded first
                for plugins in ("flops", "params,flops,memory"):
                    done = self.assert_refused(4, ["the sum of metric '", "' exceeds 2^63"], huge,
                                               f"--plugins={plugins}", env=environment)
                    messages.add((nodes, done.stderr))
        self.assertEqual(len(messages), 2, messages)  # one line for each file, whichever thread reports it

    @unittest.skipIf(SANITIZED, "a library must be loaded first, and so must the sanitizer's")
    def test_without_further_threads_one_does_all_work(self):
        _, path = self.graph(14000)
        environment = self.without_threads()
        for plugins in ("params,flops,memory", "all"):
            done = tmeter(path, f"--plugins={plugins}", "--report", "json", env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            alone, helped = json.loads(done.stdout), report(path, f"--plugins={plugins}")
            for document in alone, helped:
                del document["timing"], document["command"]
            self.assertEqual(alone, helped)

    def test_an_error_in_one_piece_is_reported_with_its_place(self):
        _, path = self.graph(6000)  # more than 4 MB of nodes: another thread reads ahead
        cases = {
            "a table that names a tensor twice": (
                lambda text: text.replace('"p_h_60_ln_1_weight": {', '"p_h_7_ln_1_weight": {', 1),
                ["tensor_values", "'p_h_7_ln_1_weight'", "occurs twice"]),
            "a key that occurs twice": (
                lambda text: text.replace('"target": "torch.ops.aten.gelu.default", ',
                                          '"target": "torch.ops.aten.gelu.default", "target": "x", ', 1),
                ["'target' occurs twice"]),
            "a node that uses what comes later": (
                lambda text: text.replace('{"as_tensor": {"name": "gelu__30"}}, "kind"',
                                          '{"as_tensor": {"name": "gelu__31"}}, "kind"', 1),
                ["nodes[", "'gelu__31'", "before anything defines it"]),
            "a list that does not end": (lambda text: text[:len(text) // 2], ["not valid JSON"]),
            "a bracket of the other kind": (
                lambda text: text.replace('"kind": 1}], "outputs"', '"kind": 1}}, "outputs"', 1), ["not valid JSON"]),
            "no JSON in the middle": (lambda text: text.replace('"gelu__50"', 'gelu__50', 1), ["not valid JSON"]),
            "a node that is not an object": (
                lambda text: text.replace('"nodes": [{', '"nodes": [5, {', 1), ["nodes[0]", "an object"]),
        }
        for case, (damage, words) in cases.items():
            with self.subTest(case):
                changed = []

                def change(name, text):
                    out = damage(text) if name.endswith("models/model.json") else text
                    changed.append(out != text)
                    return out

                damaged = self.file("damaged.pt2", rewritten(path, change))
                self.assertTrue(any(changed))
                done = tmeter(damaged)
                self.assertEqual(done.returncode, 4, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    main()
