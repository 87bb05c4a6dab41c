"""Parameters and buffers of files that have only names and tensors. The expected kinds are transformers' own (tests/blueprint/buffers.jsonl)."""
import json
import sys

from support import SOURCE, CliTest, main, report

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import rows_of, write_folder  # noqa: E402

ROWS = rows_of(SOURCE / "tests" / "blueprint" / "buffers.jsonl")[1:]
NORM = {n: ("float32", [4]) for n in ("weight", "bias", "running_mean", "running_var")}


class Buffers(CliTest):
    def kinds(self, tensors, config=None):
        """({name: whether it is a parameter}, warnings, parameters)"""
        folder = self.folder / str(len(list(self.folder.iterdir())))
        write_folder(folder, config, tensors)
        done = report(folder / "model.safetensors", "--plugins=params")
        return {t["name"]: t["kind"] == "parameter" for t in done["tensors"]}, [str(w) for w in done["warnings"]], done["totals"]["params"]

    def test_every_type(self):
        for row in ROWS:
            with self.subTest(row["type"], of=row["class"]):
                kinds, warnings, _ = self.kinds({n: (d, s) for n, d, s, _ in row["tensors"]}, row["config"])
                self.assertEqual(kinds, {n: p for n, _, _, p in row["tensors"]})
                self.assertEqual(warnings, [])

    def test_without_a_type_wrong_kinds_get_a_warning(self):
        for row in ROWS:
            kinds, warnings, _ = self.kinds({n: (d, s) for n, d, s, _ in row["tensors"]})
            if kinds != {n: p for n, _, _, p in row["tensors"]}:
                with self.subTest(row["type"], of=row["class"]):
                    self.assertEqual(len(warnings), 1)
                    self.assertIn("does not distinguish parameters from buffers", warnings[0])

    def test_the_warning_names_tensors_and_both_counts(self):
        """Tensors of a router and of a frozen norm: 8 and 2 · 4 elements."""
        tensors = {"layers.0.mlp.expert_bias": ("float32", [8]), "fc.weight": ("float32", [2, 3])}
        kinds, (warning,), params = self.kinds(tensors)
        self.assertEqual((kinds["layers.0.mlp.expert_bias"], params), (False, 6))
        self.assertIn("1 tensor, 'layers.0.mlp.expert_bias', is counted as a buffer; as a parameter, the model would have 8 more parameters", warning)
        kinds, (warning,), params = self.kinds({"body.bn1." + n: t for n, t in NORM.items()})
        self.assertEqual((kinds["body.bn1.weight"], params), (True, 8))
        self.assertIn("2 tensors, such as 'body.bn1.bias', are counted as parameters; as buffers, the model would have 8 fewer parameters", warning)
        self.assertEqual(self.kinds({"body.bn1." + n: t for n, t in NORM.items()}, {"model_type": "detr"})[1:], ([], 0))

    def test_the_bias_of_a_gate(self):
        """The bias of a linear layer, or of the router in DeepSeek's own files."""
        tensors = {"layers.0.ffn.gate.weight": ("float32", [8, 4]), "layers.0.ffn.gate.bias": ("float32", [8])}
        self.assertEqual(self.kinds(tensors, {"model_type": "acme"})[1:], ([], 40))
        self.assertEqual(self.kinds(tensors, {"model_type": "deepseek_v4"})[1:], ([], 32))
        _, (warning,), params = self.kinds(tensors)
        self.assertEqual(params, 40)
        self.assertIn("as a buffer, the model would have 8 fewer parameters", warning)

    def test_norms_without_a_batch_counter_are_buffers_if_others_have_one(self):
        tensors = {"a." + n: t for n, t in NORM.items()} | {"b." + n: t for n, t in NORM.items()} | {"b.num_batches_tracked": ("int64", [])}
        kinds, warnings, params = self.kinds(tensors)
        self.assertEqual((kinds["a.weight"], kinds["b.weight"], params, warnings), (False, True, 8, []))

    def test_the_causal_mask_of_old_checkpoints(self):
        """openai-community/gpt2 has `h.0.attn.bias` as float32 [1, 1, 1024, 1024]."""
        kinds, warnings, params = self.kinds({"h.0.attn.bias": ("float32", [1, 1, 64, 64]), "h.0.attn.masked_bias": ("float32", []),
                                              "h.0.attn.c_attn.bias": ("float32", [96])})  # fmt: skip
        self.assertEqual((kinds["h.0.attn.bias"], params, warnings), (False, 96, []))

    def test_components_have_types_of_their_own(self):
        """Stable Diffusion 3 keeps its table of positions, 36,864 × 1536 elements, as a buffer; AuraFlow's is a parameter."""
        (self.folder / "model_index.json").write_text(json.dumps({"transformer": ["diffusers", "SD3Transformer2DModel"], "other": ["diffusers", "AuraFlowTransformer2DModel"]}))
        for part, name in (("transformer", "SD3Transformer2DModel"), ("other", "AuraFlowTransformer2DModel")):
            write_folder(self.folder / part, {"_class_name": name}, {"pos_embed.pos_embed": ("float32", [1, 4, 8])})
            (self.folder / part / "model.safetensors").rename(self.folder / part / "diffusion_pytorch_model.safetensors")
        done = report(self.folder, "--plugins=params")
        self.assertEqual(({t["name"]: t["kind"] for t in done["tensors"]}, done["warnings"]),
                         ({"other.pos_embed.pos_embed": "parameter", "transformer.pos_embed.pos_embed": "buffer"}, []))  # fmt: skip

    def test_a_configuration_without_a_model_type(self):
        tensors = {"layers.0.mlp.expert_bias": ("float32", [8])}
        for config in ("[]", "{", "{}", json.dumps({"model_type": 7}), json.dumps({"model_type": "*"}), json.dumps({"model_type": ""}),
                       json.dumps({"model_type": "lfm2_moe afmoe"}),
                       json.dumps({f"part{i}": {"model_type": "acme" * 9} for i in range(100_000)}), '{"a":' * 2000 + "1" + "}" * 2000):  # fmt: skip
            with self.subTest(config[:20]):
                folder = self.folder / str(len(list(self.folder.iterdir())))
                write_folder(folder, None, tensors)
                (folder / "config.json").write_text(config)
                done = report(folder / "model.safetensors", "--plugins=params")
                self.assertEqual([t["kind"] for t in done["tensors"]], ["buffer"])
                self.assertIn("does not distinguish parameters from buffers", str(done["warnings"]))


if __name__ == "__main__":
    main()
