"""`--plugins=a,b` and `--plugins=b,a` give the same report, byte for byte except for time and command: all pairs of our
own plugins and those of the tests, on a language model and on a trained model whose weights are read."""
import concurrent.futures
import itertools
import os
import pathlib
import re
import tempfile
import tomllib

from support import BUILD, FIXTURES, MODELS, CliTest, build_plugin, main, tmeter

MODEL = MODELS / "gpt2_like.pt2"
WITH_WEIGHTS = FIXTURES / "trained" / "model.pt2"
TIME_AND_COMMAND = re.compile(r'"analysis_seconds": ?[-+.e0-9]+|"command": ?"(?:[^"\\\\]|\\\\.)*"')

# Compile-time settings of the test plugins. The values of alpha and omega come from totals of other metrics, of both calls
# and operators, and both give values for modules of the models below.
BUILT = {
    "contract": ("contract_plugin.cpp",),
    "digest": ("digest_plugin.cpp",),
    "mean": ("mean_plugin.cpp",),
    "zeros": ("zeros_plugin.cpp",),
    "first": ("module_plugin.cpp", '-DID="a.stranger.first"', '-DENV="RULES_FIRST"', '-DMETRICS="alpha"'),
    "last": ("module_plugin.cpp", '-DID="z.stranger.last"', '-DENV="RULES_LAST"', '-DMETRICS="omega"'),
}
ENVIRONMENT = {
    "CONTRACT": "",
    "MEAN_WEIGHT": "macs",
    "RULES_FIRST": "op alpha other:macs; * alpha other:macs macs; Linear macs elements; LayerNorm macs 9",
    "RULES_LAST": "op omega total:flops; Sequential macs 5; LayerNorm other_flops 7; Linear omega nodes; Block macs half",
}


def own_plugins():
    """Short names, from the manifests of the libraries."""
    names = []
    for manifest in sorted((BUILD / "lib" / "tmeter" / "plugins").glob("*.tmeter.toml")):
        if manifest.with_suffix("").exists():
            names.append(tomllib.loads(manifest.read_text())["name"])
    return names


def is_refused(name):
    """Whether the plugin is a writer, or measures and --inference is missing; the message names the first such plugin."""
    message = tmeter(MODEL, f"--plugins={name}").stderr
    return "add --inference" in message or "it writes reports" in message


class Order(CliTest):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory(prefix="tmeter-order-")
        cls.addClassCleanup(built.cleanup)
        cls.files = {}
        for name, (source, *flags) in BUILT.items():
            cls.files[name] = pathlib.Path(built.name) / f"{name}.tmeter"
            build_plugin(source, cls.files[name], *flags)

    def outcome(self, names, model):
        """Status, messages and report without the time and the command."""
        files = [x for name in names if name in self.files for x in ("--plugin", self.files[name])]
        done = tmeter(model, f"--plugins={','.join(names)}", *files, "--report", "json", env=ENVIRONMENT)
        return done.returncode, done.stderr, TIME_AND_COMMAND.sub("", done.stdout)

    def assert_same_in_both_orders(self, names, model):
        pairs = list(itertools.combinations(names, 2))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            forwards = pool.map(lambda pair: self.outcome(pair, model), pairs)
            back = pool.map(lambda pair: self.outcome(pair[::-1], model), pairs)
            reports = 0
            for pair, a, b in zip(pairs, forwards, back):
                with self.subTest(pair=pair):
                    self.assertEqual(a, b)
                    reports += a[2].startswith("{")
        # A refused pair is refused in both orders: for instance a mean whose weights no plugin provides.
        self.assertGreater(reports, 0.9 * len(pairs))

    def test_all_pairs_on_a_language_model(self):
        names = [name for name in own_plugins() if not is_refused(name)]
        for name in ("params", "flops", "memory", "energy", "activations", "language-model", "architecture", "param-stats"):
            self.assertIn(name, names)
        self.assert_same_in_both_orders(names + list(BUILT), MODEL)

    def test_all_pairs_of_plugins_with_metrics_on_a_model_with_weights(self):
        with_metrics = [n for n in own_plugins() if tmeter(WITH_WEIGHTS, f"--plugins={n}", "--report", "json").stdout.count('"aggregation"')]
        self.assertGreater(len(with_metrics), 5)
        self.assert_same_in_both_orders(with_metrics + list(BUILT), WITH_WEIGHTS)

    def test_all_orders_of_plugins_that_read_each_other(self):
        names = ["flops", "energy", "first", "last", "mean"]
        outcomes = {self.outcome(order, MODEL) for order in itertools.permutations(names)}
        self.assertEqual(len(outcomes), 1)
        self.assertEqual(next(iter(outcomes))[0], 0)


if __name__ == "__main__":
    main()
