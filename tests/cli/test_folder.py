"""`tmeter DIR`: the choice of a folder's model files, and messages that name all obstacles at once."""
import json
import os
import pathlib
import sys

from support import SANITIZED, SOURCE, CliTest, main, measured, report, tmeter

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import write_folder, write_safetensors  # noqa: E402

WEIGHTS = {"a.weight": ("float32", [4, 8]), "b.weight": ("float32", [2, 4]), "c.bias": ("float32", [2])}  # 42 elements
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 99\n"


def total(done, metric="params"):
    return next(m for m in done["metrics"] if m["id"] == metric)["total"]


class Folder(CliTest):
    def params(self, folder):
        done = tmeter(folder, "--plugins", "params", "--assert", "params == 42")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)

    def test_the_only_file_or_the_index_is_read(self):
        one = self.folder / "one"
        write_folder(one, {"model_type": "unheard-of"}, WEIGHTS)
        self.params(one)
        self.params(str(one) + "/")
        done = tmeter(".", "--plugins", "params", cwd=one, env={"TMETER": ""})
        self.assertIn("params 42", done.stdout)
        shards = self.folder / "shards"
        write_folder(shards, None, WEIGHTS, shards=3)
        self.params(shards)

    def test_layers_of_all_shards_are_in_numeric_order(self):
        names = [f"layers.{layer}.{part}" for layer in (10, 0, 2, 11, 9, 1, 100) for part in ("weight", "bias")]
        expected = [f"layers.{layer}.{part}" for layer in (0, 1, 2, 9, 10, 11, 100) for part in ("bias", "weight")]
        for shards in range(1, len(names) + 1):
            folder = self.folder / str(shards)
            write_folder(folder, None, {name: ("float32", [2]) for name in names}, shards=shards)
            found = report(folder, "--plugins", "params")["tensors"]
            self.assertEqual([tensor["name"] for tensor in found], expected, shards)

    def test_the_index_precedes_other_files(self):
        folder = self.folder / "both"
        write_folder(folder, None, WEIGHTS, shards=2)
        write_safetensors(folder / "consolidated.safetensors", {"x": ("float32", [7])})
        (folder / "pytorch_model.bin").write_bytes(b"\x80\x02.")
        done = tmeter(folder, "--plugins", "params", "--assert", "params == 42")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("consolidated.safetensors, pytorch_model.bin", " ".join((done.stdout + done.stderr).split()))

    def test_the_file_of_an_index_is_not_listed_as_unread(self):
        """mlx-lm writes an index of one file."""
        write_safetensors(self.folder / "model.safetensors", WEIGHTS)
        self.file("model.safetensors.index.json", json.dumps({"weight_map": dict.fromkeys(WEIGHTS, "model.safetensors")}))
        self.params(self.folder)
        self.assertNotIn("not read", tmeter(self.folder).stdout)

    def test_several_sets(self):
        write_safetensors(self.folder / "model.safetensors", WEIGHTS)
        write_safetensors(self.folder / "model.fp16.safetensors", WEIGHTS)
        self.assert_refused(4, ["several models", "model.fp16.safetensors, model.safetensors", "give one of"], self.folder)
        self.params(self.folder / "model.safetensors")

    def test_weights_and_a_program(self):
        write_safetensors(self.folder / "model.safetensors", WEIGHTS)
        (self.folder / "model.pt2").write_bytes((SOURCE / "sdk/template/common/model.pt2").read_bytes())
        self.assert_refused(4, ["several models", "model.safetensors", "model.pt2"], self.folder)
        (self.folder / "model.safetensors").unlink()
        self.assertEqual(tmeter(self.folder, "--plugins", "params,flops").returncode, 0)

    def test_all_missing_shards_are_named_at_once(self):
        write_folder(self.folder, None, WEIGHTS, shards=3)
        (self.folder / "model-00001-of-00003.safetensors").unlink()
        (self.folder / "model-00003-of-00003.safetensors").write_bytes(b"")
        self.assert_refused(4, ["2 of 3 shards are missing", "model-00001-of-00003.safetensors, model-00003-of-00003.safetensors"], self.folder)
        self.assert_refused(4, ["2 of 3 shards are missing"], self.folder / "model.safetensors.index.json")

    def test_git_lfs_pointers_are_named_at_once(self):
        write_folder(self.folder, None, WEIGHTS, shards=3)
        for i in (1, 2):
            (self.folder / f"model-{i:05}-of-00003.safetensors").write_bytes(POINTER)
        self.assert_refused(4, ["2 of 3 shards are Git LFS pointers", "model-00001", "model-00002", "git lfs pull"], self.folder)
        self.assert_refused(4, ["2 of 3 shards are Git LFS pointers"], self.folder / "model.safetensors.index.json")

    def test_a_single_shard_is_reported_as_a_part(self):
        write_folder(self.folder, None, WEIGHTS, shards=3)
        self.assertIn("part file 2 of 3", tmeter(self.folder / "model-00002-of-00003.safetensors").stdout)
        self.assertNotIn("part", tmeter(self.folder).stdout.splitlines()[0])
        for name in ("a-1-of-1.safetensors", "1-of-2.safetensors", "model-x-of-2.safetensors", "model-00002-of-.safetensors"):
            write_safetensors(self.folder / name, WEIGHTS)
            self.assertNotIn("part file", tmeter(self.folder / name).stdout)

    def test_one_git_lfs_pointer(self):
        self.file("model.safetensors", POINTER)
        self.assert_refused(4, ["model.safetensors is a Git LFS pointer", "git lfs pull"], self.folder)

    def test_shards_without_an_index(self):
        write_folder(self.folder, None, WEIGHTS, shards=2)
        (self.folder / "model.safetensors.index.json").unlink()
        self.assert_refused(4, ["without their index", "model-00001-of-00002"], self.folder)

    def test_paths_out_of_the_folder(self):
        inside = self.folder / "inside"
        write_folder(inside, None, WEIGHTS, shards=2)
        index = inside / "model.safetensors.index.json"
        text = index.read_text()
        for name in ("../outside.safetensors", "/etc/passwd", "..", ".", "", "sub/x.safetensors"):
            index.write_text(text.replace("model-00001-of-00002.safetensors", name))
            self.assert_refused(4, ["weight_map places", "not a plain file name"], inside)
        index.write_text(text)
        outside = self.folder / "outside.safetensors"
        (inside / "model-00001-of-00002.safetensors").rename(outside)
        (inside / "model-00001-of-00002.safetensors").symlink_to(outside)
        self.assert_refused(4, ["model-00001-of-00002.safetensors", "is a link out of the folder"], inside)
        os.truncate(outside, 1 << 30)  # as large as shards are
        self.assert_refused(4, ["model-00001-of-00002.safetensors", "is a link out of the folder"], inside)

    def test_a_dangling_link_is_refused(self):
        (self.folder / "model.safetensors").symlink_to("nosuch")
        self.assert_refused(4, ["model.safetensors: is a link to nosuch, which does not exist"], self.folder)
        self.assert_refused(4, ["model.safetensors: is a link to nosuch, which does not exist"], self.folder / "model.safetensors")

    def test_more_shards_than_any_model_has(self):
        """Each would be searched for: 500,000 took half a minute."""
        index = self.file("model.safetensors.index.json", json.dumps({"weight_map": {f"w{i}": f"{i}.safetensors" for i in range(500_000)}}))
        for source in (self.folder, index):
            self.assert_refused(4, ["weight_map names 500000 files; tmeter reads at most 10,000"], source, timeout=20)

    def test_more_components_than_any_pipeline_has(self):
        self.file("model_index.json", json.dumps({f"c{i}": ["diffusers", "C"] for i in range(100_000)}))
        self.assert_refused(4, ["model_index.json: it has 100000 entries; tmeter reads at most 1,000"], self.folder, timeout=20)

    def test_a_cache_of_hugging_face(self):
        """snapshots/COMMIT/FILE → ../../blobs/HASH"""
        snapshot, blobs = self.folder / "models--x/snapshots/0123", self.folder / "models--x/blobs"
        write_folder(snapshot, {"model_type": "unheard-of"}, WEIGHTS)
        blobs.mkdir()
        for i, file in enumerate(sorted(snapshot.iterdir())):
            file.rename(blobs / str(i))
            file.symlink_to(pathlib.Path("../../blobs") / str(i))
        self.params(snapshot)

    def test_each_folder_with_a_model_is_named_once(self):
        for name in ("a", "a-b", "a/b"):
            write_folder(self.folder / name, None, WEIGHTS)
        self.assert_refused(4, ["no model of its own; there are models in its folders a, a-b; give one of them"], self.folder)

    def test_components(self):
        (self.folder / "model_index.json").write_text(json.dumps({
            "_class_name": "Pipeline", "unet": ["diffusers", "UNet2DConditionModel"], "vae": ["diffusers", "AutoencoderKL"],
            "scheduler": ["diffusers", "PNDMScheduler"], "safety_checker": [None, None]}))  # fmt: skip
        for name in ("unet", "vae"):
            (self.folder / name).mkdir()
            write_safetensors(self.folder / name / "diffusion_pytorch_model.safetensors", WEIGHTS)
        made = report(self.folder, "--plugins", "params")
        paths = {m["path"]: m for m in made["modules"]}
        self.assertEqual({"unet", "vae", "unet.a", "vae.c"} - set(paths), set())
        self.assertEqual(paths["unet"]["type"], "UNet2DConditionModel")
        self.assertEqual(tmeter(self.folder, "--plugins", "params", "--assert", "params == 84").returncode, 0)
        self.assertEqual({t["name"] for t in made["tensors"]}, {f"{c}.{n}" for c in ("unet", "vae") for n in WEIGHTS})

    def test_a_damaged_component_is_named(self):
        (self.folder / "model_index.json").write_text(json.dumps({"unet": ["diffusers", "UNet"], "vae": ["diffusers", "VAE"]}))
        for name in ("unet", "vae"):
            (self.folder / name).mkdir()
            write_safetensors(self.folder / name / "diffusion_pytorch_model.safetensors", WEIGHTS)
        file = self.folder / "vae/diffusion_pytorch_model.safetensors"
        os.truncate(file, file.stat().st_size - 4)
        self.assert_refused(4, ["vae/diffusion_pytorch_model.safetensors"], self.folder)

    def test_an_adapter(self):
        (self.folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 8, "base_model_name_or_path": "acme/base"}))
        write_safetensors(self.folder / "adapter_model.safetensors", {
            "base_model.model.q.lora_A.weight": ("float32", [8, 16]), "base_model.model.q.lora_B.weight": ("float32", [16, 8])})  # fmt: skip
        done = tmeter(self.folder, "--plugins", "params", "--assert", "params == 256")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("an adapter (LORA) of acme/base", " ".join((done.stdout + done.stderr).split()))

    def test_the_frozen_bases_of_an_adapter_are_buffers(self):
        """peft 0.21: get_nb_trainable_parameters() of a VeRA adapter of rank 8 on a 128 × 128 weight is 8 + 128, of RandLoRA's bases none."""
        (self.folder / "adapter_config.json").write_text(json.dumps({"peft_type": "VERA", "r": 8}))
        write_safetensors(self.folder / "adapter_model.safetensors", {
            "base_model.vera_A": ("float32", [8, 128]), "base_model.vera_B": ("float32", [128, 8]), "base_model.model.q.randlora_A": ("float32", [8, 4, 128]),
            "base_model.model.q.vera_lambda_b": ("float32", [128]), "base_model.model.q.vera_lambda_d": ("float32", [8])})  # fmt: skip
        totals = report(self.folder, "--plugins", "params")["totals"]
        self.assertEqual((totals["params"], totals["buffers"]), (136, 2 * 8 * 128 + 8 * 4 * 128))

    def test_no_model(self):
        self.assert_refused(4, ["the folder has no model file"], self.folder)
        self.file("config.json", "{}")
        self.assert_refused(4, ["config.json, but no weights"], self.folder)
        (self.folder / "sub").mkdir()
        write_safetensors(self.folder / "sub" / "model.safetensors", WEIGHTS)
        self.assert_refused(4, ["models in its folders sub"], self.folder)

    def test_damaged_configuration(self):
        for text in ("", "[]", "{", '{"a": 1, "a": 2}', '{"a": ' + "[" * 2000, "\xff"):
            folder = self.folder / str(len(text))
            write_folder(folder, None, WEIGHTS)
            (folder / "config.json").write_text(text, encoding="latin-1")
            self.assert_refused(4, ["config.json"], folder)

    def test_a_configuration_as_python_writes_it(self):
        """json.dumps writes inf as Infinity, as in Mamba 2's time_step_limit, and integers of any size."""
        write_folder(self.folder, {"time_step_limit": [0.0, float("inf")], "x": float("nan"), "max_length": int(1e30)}, WEIGHTS)
        self.assertIn("Infinity", (self.folder / "config.json").read_text())
        self.params(self.folder)

    def test_a_configuration_of_long_nested_keys(self):
        """Each key begins with that of its object: 900 of 15 KB took 5 GB."""
        key = "k" * 15_000
        write_folder(self.folder, None, WEIGHTS)
        (self.folder / "config.json").write_text(f'{{"{key}":' * 900 + "1" + "}" * 900)
        done = measured(self.folder, self.folder, "--plugins", "params")
        self.assertEqual((done.status, done.stderr), (0, ""))
        if not SANITIZED:
            self.assertLess(done.memory, 1 << 29)

    def test_buffers_of_transformers_are_not_parameters(self):
        """In its modules: Apertus' activation, EnCodec's and Mimi's codes, Gemma 4, MiniMax, Mask2Former."""
        buffers = ("model.layers.0.mlp.act_fn.beta", "model.layers.0.mlp.act_fn.eps", "quantizer.layers.0.codebook.embed", "quantizer.layers.0.codebook.embed_avg",
                   "quantizer.layers.0.codebook.cluster_size", "quantizer.layers.0.codebook.inited", "q.layers.0.codebook.embed_sum",
                   "q.layers.0.codebook.cluster_usage", "q.layers.0.codebook.initialized", "model.layers.0.layer_scalar", "model.layers.0.self_attn.slope_rate",
                   "criterion.empty_weight", "decoder.final_logits_bias", "attn.inv_freq", "bn.running_var")  # fmt: skip
        parameters = ("model.layers.0.mlp.act_fn.alpha_p", "model.embed.weight", "text_model.positional_embedding", "norm.scale", "layers.0.beta")
        write_folder(self.folder, None, {name: ("float32", [1]) for name in buffers + parameters})
        done = report(self.folder, "--plugins=params")
        self.assertEqual({t["name"]: t["kind"] for t in done["tensors"]}, {**dict.fromkeys(buffers, "buffer"), **dict.fromkeys(parameters, "parameter")})

    def test_sparse_terabytes(self):
        """100 shards of 13 GB are headers followed by holes."""
        weight_map = {}
        for i in range(100):
            name = f"model-{i + 1:05}-of-00100.safetensors"
            tensors = {f"layers.{i}.w": ("bfloat16", [650_000, 10_000])}
            write_safetensors(self.folder / name, tensors)
            weight_map.update(dict.fromkeys(tensors, name))
        self.file("model.safetensors.index.json", json.dumps({"weight_map": weight_map}))
        done = tmeter(self.folder, "--plugins", "params", "--assert", "params == 650G", timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
