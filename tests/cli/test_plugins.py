"""Plugins as a user meets them: listing, selection, dependencies, broken files, and a third-party plugin."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from support import BUILD, FIXTURES, HAVE_TORCH, MODELS, SOURCE, TMETER, CliTest, build_plugin, main, report, tmeter

RESNET = MODELS / "resnet50.pt2"
PLUGINS = BUILD / "lib" / "tmeter" / "plugins"
LIBTORCH_PLUGINS = {"torch-backend.tmeter", "resize.tmeter"}


class Binding(CliTest):
    """LibTorch's own symbols are bound at their first call; a plugin with a missing symbol is reported when it is
    opened."""

    def test_a_plugin_with_an_undefined_symbol_cannot_be_opened(self):
        source = self.file("lacking.cpp", f'#include "{SOURCE}/tests/cli/digest_plugin.cpp"\n'
                           'extern "C" void nowhere_to_be_found();\n'
                           '__attribute__((used)) static void use() { nowhere_to_be_found(); }\n')
        library = self.folder / "lacking.tmeter"
        build_plugin(source, library)
        for _ in range(2):
            done = tmeter(RESNET, env={"TMETER_PLUGIN_PATH": str(self.folder)})
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "note: .*lacking.*cannot be opened.*nowhere_to_be_found")

    @unittest.skipUnless(HAVE_TORCH, "needs LibTorch")
    def test_symbols_of_libtorch_are_bound_at_once(self):
        for plugin in sorted(LIBTORCH_PLUGINS):
            flags = subprocess.run(["readelf", "-d", PLUGINS / plugin], capture_output=True, text=True, check=True)
            self.assertIn("NOW", flags.stdout, plugin)


class Choosing(CliTest):
    def test_list_shows_all_without_opening_libraries(self):
        done = tmeter("plugin", "list", env={"LD_DEBUG": "files"})
        for name in ("flops", "params", "memory", "energy", "pt2", "text", "json", "torch-backend", "resize"):
            self.assertIn(name, done.stdout)
        self.assertNotIn(".tmeter", "".join(l for l in done.stderr.splitlines() if "calling init" in l))

    def test_info_shows_options_and_conventions(self):
        done = tmeter("plugin", "info", "flops")
        self.assertEqual(done.returncode, 0)
        for word in ("flops.convention=torch", "macs", "MAC"):
            self.assertIn(word, done.stdout)

    def test_energy_adds_its_required_plugins(self):
        metrics = {m["id"] for m in report(RESNET, "--plugins=energy")["metrics"]}
        self.assertLessEqual({"energy", "macs", "flops", "read_bytes", "params"}, metrics)

    def test_only_requested_metrics_are_reported(self):
        metrics = {m["id"] for m in report(RESNET, "--plugins=params")["metrics"]}
        self.assertEqual(metrics, {"params", "params_trainable", "buffers"})

    def test_one_of_all_plugins_can_be_left_out(self):
        metrics = {m["id"] for m in report(RESNET, "--plugins=all,-energy")["metrics"]}
        self.assertIn("macs", metrics)
        self.assertNotIn("energy", metrics)


class Broken(CliTest):
    def test_not_a_library(self):
        path = self.file("bad.tmeter", "not a library")
        self.assert_refused(5, ["bad.tmeter", "not a shared library"], RESNET, "--plugin", path)

    def test_missing_and_irregular_files_are_reported_as_such(self):
        self.assert_refused(5, ["nosuch.tmeter does not exist"], RESNET, "--plugin", self.folder / "nosuch.tmeter")
        self.assert_refused(5, ["is a folder", "--plugin-path"], RESNET, "--plugin", self.folder)
        os.mkfifo(self.folder / "pipe.tmeter")
        self.assert_refused(5, ["pipe.tmeter is not a regular file"], RESNET, "--plugin", self.folder / "pipe.tmeter", timeout=20)
        self.assert_refused(5, ["cannot be read: Not a directory"], RESNET,
                            "--plugin", self.file("file") / "x.tmeter")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_an_unreadable_file_is_reported_as_such(self):
        path = self.file("secret.tmeter", "x")
        path.chmod(0)
        self.assert_refused(5, ["secret.tmeter cannot be read: Permission denied"], RESNET, "--plugin", path)

    def test_library_without_the_entry_symbol(self):
        path = self.folder / "libc.tmeter"
        source = self.file("x.c", "int x(void) { return 1; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
        self.assert_refused(5, ["tmeter_plugin_v1"], RESNET, "--plugin", path)

    def test_library_that_cannot_be_opened_gives_the_reason(self):
        source = self.file("x.c", "extern int nowhere(void);\nint tmeter_plugin_v1(void) { return nowhere(); }\n")
        path = self.folder / "u.tmeter"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
        self.assert_refused(5, ["u.tmeter", "nowhere"], RESNET, "--plugin", path)

    def test_plugin_that_needs_a_newer_abi(self):
        source = self.file("new.c", """
#include <tmeter/abi/tmeter.h>
static tmeter_status init(tmeter_call *c, const tmeter_host_v1 *h, tmeter_str p, void *u) {
  (void)c; (void)h; (void)p; (void)u; return TMETER_OK;
}
static void deinit(void *u) { (void)u; }
static const void *capability(tmeter_str id, void *u) { (void)id; (void)u; return 0; }
const tmeter_plugin_entry_v1 *tmeter_plugin_v1(void) {
  static const tmeter_plugin_info info = {sizeof info, 0, {"com.acme.new", 12}, {"new", 3}, {"1", 1}, {"", 0}, {"", 0}, {"", 0}};
  static const tmeter_plugin_entry_v1 entry = {sizeof entry, 7, &info, 0, init, deinit, capability, 0};
  return &entry;
}
""")
        path = self.folder / "new.tmeter"
        include = SOURCE / "sdk" / "include"
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{include}", "-o", path, source],
                       check=True)
        self.assert_refused(5, ["needs plugin ABI 1.7", "this tmeter has 1.1"], RESNET, "--plugin", path)

    def test_a_broken_plugin_in_a_folder_is_a_note_not_an_error(self):
        self.file("bad.tmeter", "not a library")
        done = tmeter(RESNET, "--plugin-path", self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn("bad.tmeter", done.stderr)

    def test_missing_folder(self):
        self.assert_refused(2, ["no such folder"], RESNET, "--plugin-path", self.folder / "nosuch")


class Isolation(CliTest):
    """Only two plugins link LibTorch, and a .pt2 analysis opens neither."""

    def needed(self, path):
        return subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout

    def test_ldd_shows_no_libtorch(self):
        self.assertNotRegex(self.needed(TMETER), r"libtorch|libc10")
        plugins = sorted(PLUGINS.glob("*.tmeter"))
        self.assertGreaterEqual(len(plugins), 7)
        for plugin in plugins:
            if plugin.name not in LIBTORCH_PLUGINS:
                self.assertNotRegex(self.needed(plugin), r"libtorch|libc10", plugin.name)

    def test_pt2_opens_no_libtorch(self):
        done = tmeter(RESNET, "--plugins=all", env={"LD_DEBUG": "files"})
        self.assertEqual(done.returncode, 0)
        self.assertIn("pt2.tmeter", done.stderr)
        self.assertNotRegex(done.stderr, r"libtorch|libc10|torch-backend|resize\.tmeter")

    @unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
    def test_torchscript_opens_libtorch(self):
        done = tmeter(MODELS / "resnet50.traced.pt", env={"LD_DEBUG": "files"})
        self.assertRegex(done.stderr, r"libtorch_cpu")
        self.assertNotRegex(done.stderr, r"libtorch_cuda\.so|resize\.tmeter")

    @unittest.skipUnless(HAVE_TORCH, "this build has no LibTorch")
    def test_sizes_for_another_input_do_not_open_the_torch_backend(self):
        done = tmeter(RESNET, "--input", "8x3x224x224", env={"LD_DEBUG": "files"})
        self.assertEqual(done.returncode, 0)
        self.assertIn("resize.tmeter", done.stderr)
        self.assertNotIn("torch-backend.tmeter", done.stderr)


class StrangersPlugin(CliTest):
    """Built in another folder against the installed SDK: the template, and an in-house operator."""

    def run_quietly(self, *command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_installed_sdk_builds_a_plugin_that_shows_in_the_report(self):
        prefix, build = self.folder / "prefix", self.folder / "build"
        template = self.folder / "acme_layers"
        self.run_quietly("cmake", "--install", BUILD, "--prefix", prefix)
        self.run_quietly(prefix / "bin" / "tmeter", "plugin", "new", "acme_layers", "--kind", "op", "--output", template)
        self.run_quietly("cmake", "-S", template, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.run_quietly("cmake", "--build", build)
        plugin = next(build.glob("*.tmeter"))
        manifest = (build / "acme_layers.tmeter.toml").read_text()  # written at build time
        for word in ("schema = 1", "abi_minor = 0", "com.example.acme_layers", "acme::gated_mlp", hashlib.sha256(plugin.read_bytes()).hexdigest()):
            self.assertIn(word, manifest)
        # The manifest of an installed plugin is used without opening the library.
        listed = subprocess.run([prefix / "bin" / "tmeter", "plugin", "list"], capture_output=True, text=True,
                                env={**os.environ, "LD_DEBUG": "files", "XDG_DATA_HOME": "/nonexistent", "TMETER_PLUGIN_PATH": ""})
        self.assertNotIn(".tmeter", "".join(l for l in listed.stderr.splitlines() if "calling init" in l))

        model = self.acme_model()
        installed = prefix / "bin" / "tmeter"
        env = {**os.environ, "XDG_DATA_HOME": str(self.folder / "data"), "TMETER_PLUGIN_PATH": ""}

        def run(*arguments):
            return subprocess.run([installed, model, "--plugins=flops", *arguments], capture_output=True, text=True, env=env)

        without = run()
        self.assertEqual(without.returncode, 0, without.stderr)
        self.assertIn("acme::gated_mlp", without.stdout)  # listed as unknown, the rest is counted
        self.assertEqual(run("--assert", "coverage==100%").returncode, 3)

        # x: [2, 8], w_out: [8, 32] → 2 rows × 3 × 8 × 32 = 1,536 MACs, by hand.
        self.assertEqual(run("--plugin", plugin, "--assert", "macs==1536", "--assert", "coverage==100%").returncode, 0)

        # In the user's plugin folder it is found by the operator it handles.
        folder = self.folder / "data" / "tmeter" / "plugins"
        folder.mkdir(parents=True)
        shutil.copy(plugin, folder)
        self.assertEqual(run("--assert", "macs==1536").returncode, 0)

        if HAVE_TORCH:
            self.check_shape_rule(run, plugin)

    def check_shape_rule(self, run, plugin):
        """A TorchScript file that calls the operator: the plugin provides its schema and its shape."""
        scripted = FIXTURES / "torchscript" / "acme.pt"
        done = subprocess.run([TMETER, scripted, "--plugins=flops", "--plugin", plugin, "--report", "json"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        # 2,560 of the linear layers, and 1 row × 3 × 64 × 128 of the operator, by hand.
        self.assertEqual(document["totals"]["macs"], 2560 + 3 * 64 * 128)
        self.assertNotIn("acme::gated_mlp", " ".join(document["warnings"]))
        self.assertNotIn("acme::gated_mlp", {o["op"] for o in document["coverage"]["unknown_ops"]})

    def acme_model(self):
        """A .pt2 that calls acme::gated_mlp: the recorded small model with its operator renamed."""
        from test_bad_input import graph_of, repack

        def tensor(*dims):
            sizes = [{"as_int": d} for d in dims]
            return {"dtype": 7, "sizes": sizes, "requires_grad": False, "device": {"type": "cpu", "index": None},
                    "strides": [{"as_int": 1} for _ in dims], "storage_offset": {"as_int": 0}, "layout": 7}

        def argument(schema_name, value):
            return {"name": schema_name, "arg": {"as_tensor": {"name": value}}, "kind": 1}

        def change(d):
            graph = graph_of(d)
            names = {"x": (2, 8), "w_in": (64, 8), "w_out": (8, 32), "y": (2, 8)}
            graph["tensor_values"] = {n: tensor(*dims) for n, dims in names.items()}
            graph["sym_int_values"], graph["sym_bool_values"], graph["sym_float_values"] = {}, {}, {}
            graph["inputs"] = [{"as_tensor": {"name": n}} for n in ("x", "w_in", "w_out")]
            graph["outputs"] = [{"as_tensor": {"name": "y"}}]
            graph["nodes"] = [{"target": "torch.ops.acme.gated_mlp.default", "metadata": {},
                               "inputs": [argument(n, n) for n in ("x", "w_in", "w_out")],
                               "outputs": [{"as_tensor": {"name": "y"}}], "is_hop_single_tensor_return": None}]
            d["range_constraints"] = {}
            d["graph_module"]["signature"] = {
                "input_specs": [{"user_input": {"arg": {"as_tensor": {"name": n}}}} for n in ("x", "w_in", "w_out")],
                "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]}
        return self.file("acme.pt2", repack(MODELS / "dynamic_mlp.pt2", change))


if __name__ == "__main__":
    main()
