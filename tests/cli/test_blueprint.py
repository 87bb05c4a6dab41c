"""`tmeter FOLDER` of weights and config.json: the derived program, refused contradictions, and messages about unknown parts."""
import json
import sys

from support import SOURCE, CliTest, main, report, tmeter

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402

ROWS = {r["type"]: r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl") if "type" in r}
PLUGINS = "--plugins=params,flops,memory,energy,roofline,language-model"


def small_llama(layers=2, hidden=64, heads=4, key_heads=2, wide=128, vocabulary=100, **config):
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": layers, "hidden_size": hidden, "vocab_size": vocabulary,
              "num_attention_heads": heads, "num_key_value_heads": key_heads, "intermediate_size": wide, "rope_theta": 10000.0, **config}  # fmt: skip
    kv = hidden * key_heads // heads
    tensors = {"model.embed_tokens.weight": [vocabulary, hidden], "model.norm.weight": [hidden], "lm_head.weight": [vocabulary, hidden]}
    for i in range(layers):
        at = f"model.layers.{i}."
        tensors |= {at + "self_attn.q_proj.weight": [hidden, hidden], at + "self_attn.k_proj.weight": [kv, hidden],
                    at + "self_attn.v_proj.weight": [kv, hidden], at + "self_attn.o_proj.weight": [hidden, hidden],
                    at + "mlp.gate_proj.weight": [wide, hidden], at + "mlp.up_proj.weight": [wide, hidden],
                    at + "mlp.down_proj.weight": [hidden, wide], at + "input_layernorm.weight": [hidden],
                    at + "post_attention_layernorm.weight": [hidden]}  # fmt: skip
    return config, {n: ("float32", s) for n, s in tensors.items()}


class Blueprint(CliTest):
    def write(self, name="model", **config):
        write_folder(self.folder / name, *small_llama(**config))
        return self.folder / name

    def test_by_hand(self):
        """Per layer and token 2·64² + 2·32·64 + 3·64·128 = 36,864; attention 2·4·16·n² for n tokens; head 100·64."""
        done = report(self.write(), PLUGINS, "--bind", "batch=3", "--bind", "sequence=10")
        self.assertEqual(done["totals"]["macs"], 3 * (2 * (10 * 36_864 + 2 * 64 * 10 * 10) + 10 * 6_400))
        self.assertEqual(done["totals"]["kv_cache_bytes"], 3 * 10 * 2 * 2 * 32 * 4)
        self.assertEqual(done["coverage"]["unknown"], 0)
        self.assertEqual([s["name"] for s in done["symbols"]], ["batch", "sequence"])

    def test_everything_works_as_on_an_exported_file(self):
        folder = self.write()
        done = tmeter(folder, PLUGINS, "--bind", "sequence=64", "--sweep", "batch=1,2,4", "--assert", "macs < 1G", "--by", "operator")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for format in ("json", "html", "csv", "markdown", "xml", "dot", "netron"):
            done = tmeter(folder, PLUGINS, "--report", format)
            self.assertEqual((done.returncode, done.stderr), (0, ""), format)

    def test_windows(self):
        """A window of 6 keeps 5 tokens of the past; the full layer all 10."""
        folder = self.write(sliding_window=6, layer_types=["sliding_attention", "full_attention"])
        done = report(folder, PLUGINS, "--bind", "sequence=10")
        self.assertEqual(done["totals"]["kv_cache_bytes"], (5 + 10) * 2 * 32 * 4)

    def test_a_head_that_is_the_embedding(self):
        config, tensors = small_llama(tie_word_embeddings=True)
        del tensors["lm_head.weight"]
        write_folder(self.folder, config, tensors)
        done = report(self.folder, PLUGINS, "--bind", "sequence=10")
        self.assertEqual(done["totals"]["macs"], 2 * (10 * 36_864 + 2 * 64 * 10 * 10) + 10 * 6_400)

    def test_contradictions_name_key_and_tensor(self):
        for change, words in [
            ({"num_hidden_layers": 3}, ["num_hidden_layers is 3", "model.layers"]),
            ({"num_hidden_layers": 1}, ["num_hidden_layers is 1", "2 layers"]),
            ({"num_attention_heads": 8, "head_dim": 16}, ["num_attention_heads is 8", "model.layers.0.self_attn.q_proj.weight", "[64, 64]"]),
            ({"num_attention_heads": 0}, ["num_attention_heads is 0", "'model.layers.0.self_attn' is attention"]),
            ({"num_key_value_heads": None}, ["num_attention_heads is 4 and keys and values have no number of their own", "64 rows", "k_proj.weight"]),
            ({"num_key_value_heads": 4}, ["num_key_value_heads is 4", "model.layers.0.self_attn.k_proj.weight", "[32, 64]"]),
            ({"num_key_value_heads": 3}, ["num_attention_heads is 4", "not a multiple of num_key_value_heads"]),
            ({"vocab_size": 99}, ["vocab_size is 99", "model.embed_tokens.weight", "[100, 64]"]),
            ({"hidden_size": 63}, ["hidden_size is 63", "model.embed_tokens.weight"]),
            ({"intermediate_size": 5}, ["intermediate_size is 5", "model.layers.0.mlp.gate_proj.weight", "[128, 64]"]),
            ({"intermediate_size": 64}, ["intermediate_size is 64", "model.layers.0.mlp.gate_proj.weight"]),
            ({"intermediate_size": "wide"}, ["intermediate_size is not an integer"]),
            ({"num_hidden_layers": -2}, ["num_hidden_layers is -2"]),
            ({"num_hidden_layers": 10**30}, ["num_hidden_layers is not an integer"]),
            ({"num_attention_heads": "four"}, ["num_attention_heads is not an integer"]),
            ({"num_attention_heads": 2.5}, ["num_attention_heads is not an integer"]),
            ({"num_key_value_heads": 2**62}, ["num_key_value_heads is 4611686018427387904"]),
        ]:  # fmt: skip
            config, tensors = small_llama()
            folder = self.folder / str(len(list(self.folder.iterdir())))
            write_folder(folder, {**config, **change}, tensors)
            self.assert_refused(4, words, folder)

    def test_stated_sizes_must_equal_the_sizes_of_weights(self):
        """Configurations of transformers with one changed key each. Unchanged they are accepted (blueprint.families)."""
        for model_type, key in (("bert", "type_vocab_size"), ("bert", "intermediate_size"), ("bert", "max_position_embeddings"), ("gpt2", "n_positions"),
                                ("opt", "max_position_embeddings"), ("opt", "ffn_dim"), ("vit", "hidden_size"), ("vit", "num_channels"),
                                ("falcon", "ffn_hidden_size"), ("deepseek_v3", "q_lora_rank"), ("deepseek_v3", "moe_intermediate_size"),
                                ("qwen3_moe", "moe_intermediate_size"), ("mixtral", "intermediate_size"), ("mamba", "state_size"), ("mamba", "conv_kernel"),
                                ("mamba2", "num_heads"), ("mamba2", "state_size"), ("qwen3_next", "linear_conv_kernel_dim"),
                                ("phi3", "intermediate_size"),
                                ("lfm2", "intermediate_size"), ("opt", "word_embed_proj_dim"), ("qwen2_moe", "shared_expert_intermediate_size"),
                                ("flint", "intermediate_size"), ("flint", "shared_expert_intermediate_size"), ("granitemoeshared", "shared_intermediate_size"),
                                ("deepseek_v3", "intermediate_size"), ("deepseek_v3", "n_shared_experts"), ("deepseek_v3", "first_k_dense_replace"),
                                ("afmoe", "num_shared_experts"), ("afmoe", "num_dense_layers"), ("cohere2_moe", "num_shared_experts"),
                                ("aria_text", "moe_num_shared_experts"), ("llama4_text", "intermediate_size"), ("qwen3_moe", "decoder_sparse_step")):  # fmt: skip
            row = ROWS[model_type]
            changed = 2 * row["config"][key] + 1
            with self.subTest(model_type, key=key):
                write_folder(self.folder / model_type, {**row["config"], key: changed}, tensors_of(row["tensors"]))
                self.assert_refused(4, [f"{key} is {changed}", "but tensor", "has the shape"], self.folder / model_type)

    def test_stated_mixture_layers_must_match_the_weights(self):
        for model_type, key, value, words in (("exaone_moe", "mlp_layer_types", ["sparse"] * 32, "has 'sparse' for layer 0"),
                                              ("exaone_moe", "mlp_layer_types", ["dense"] * 32, "has 'dense' for layer 1"),
                                              ("qwen3_moe", "mlp_only_layers", [0, 3], "has 0"), ("flint", "mlp_only_layers", [0], "decoder_sparse_step is 1"),
                                              ("deepseek_v3", "first_k_dense_replace", 0, "first_k_dense_replace is 0"),
                                              ("deepseek_v3", "n_shared_experts", 0, "n_shared_experts is 0")):  # fmt: skip
            row = ROWS[model_type]
            with self.subTest(model_type, key=key):
                write_folder(self.folder / model_type, {**row["config"], key: value}, tensors_of(row["tensors"]))
                self.assert_refused(4, [key if key in words else "config.json", words, "but tensor", ".mlp."], self.folder / model_type)

    def test_stated_shared_experts_must_match_the_weights(self):
        """A width, a number or the family states that a part exists."""
        for model_type, change, is_there, words in (
            ("granitemoeshared", {}, False, ["shared_intermediate_size is 1024", "experts.down_proj"]),
            ("granitemoeshared", {"shared_intermediate_size": 0}, True, ["shared_intermediate_size is 0", "experts.down_proj"]),
            ("solar_open", {}, False, ["n_shared_experts is 1", "experts.down_proj"]),
            ("llama4_text", {}, False, ["model_type is llama4_text, whose mixtures have shared experts", "experts.down_proj"]),
        ):
            row = ROWS[model_type]
            tensors = {n: t for n, t in tensors_of(row["tensors"]).items() if is_there or "shared" not in n}
            folder = self.folder / str(len(list(self.folder.iterdir())))
            write_folder(folder, {**row["config"], **change}, tensors)
            with self.subTest(model_type, change=change):
                self.assert_refused(4, words, folder)

    def test_stated_layer_kinds_must_match_the_weights(self):
        """Hybrids: a list or a pattern names the kind of each layer, and each key describes one part."""
        kinds = ROWS["lfm2"]["config"]["layer_types"]
        for model_type, change, words in (
            ("lfm2", {"layer_types": ["conv"] * len(kinds)}, ["layer_types has 'conv' for layer 2", "model.layers.2.self_attn"]),
            ("lfm2", {"layer_types": ["full_attention"] * len(kinds)}, ["layer_types has 'full_attention' for layer 0", "model.layers.0.conv"]),
            ("lfm2", {"layer_types": kinds[:-1]}, ["num_hidden_layers is 16", "layer_types is for 15 layers"]),
            ("lfm2", {"conv_L_cache": 4}, ["conv_L_cache is 4", "model.layers.0.conv.conv.weight", "[2048, 1, 3]"]),
            ("nemotron_h", {"layers_block_type": ["mlp", "moe", "full_attention", "mlp"]}, ["layers_block_type has 'mlp' for layer 0", "model.layers.0.mixer"]),
            ("nemotron_h", {"layers_block_type": ["mamba", "mlp", "attention", "mlp"]}, ["layers_block_type has 'mlp' for layer 1", "model.layers.1.mixer"]),
            ("nemotron_h", {"layers_block_type": ["mamba", "moe", "attention"]}, ["layers", "3"]),
            ("nemotron_h", {"layers_block_type": None, "num_hidden_layers": 4, "hybrid_override_pattern": "ME-*"}, ["hybrid_override_pattern has '-' for layer 2", "model.layers.2.mixer"]),
            ("nemotron_h", {"moe_latent_size": 511}, ["moe_latent_size is 511", "model.layers.1.mixer.fc1_latent_proj.weight"]),
            ("nemotron_h", {"moe_shared_expert_intermediate_size": 5}, ["moe_shared_expert_intermediate_size is 5", "model.layers.1.mixer.shared_experts.up_proj.weight"]),
            ("nemotron_h", {"mamba_num_heads": 64}, ["mamba_num_heads is 64", "model.layers.0.mixer.A_log"]),
            ("falcon_h1", {"mamba_d_ssm": 5}, ["mamba_d_ssm is 5", "model.layers.0.mamba.out_proj.weight"]),
            ("falcon_h1", {"mamba_n_groups": 3}, ["mamba_n_groups is 3", "model.layers.0.mamba.conv1d.weight"]),
            ("bamba", {"mamba_d_head": 5}, ["mamba_d_head is 5", "model.layers.0.mamba.out_proj.weight"]),
            ("nemotron_h", {"mamba_head_dim": 5}, ["mamba_head_dim is 5", "model.layers.0.mixer.out_proj.weight"]),
            ("zamba2", {"num_query_groups": 8}, ["num_query_groups is 8", "num_key_value_heads is 32"]),
            ("zamba2", {"kv_channels": 90}, ["kv_channels is 90", "a width of 64"]),
            ("zamba2", {"adapter_rank": 5}, ["adapter_rank is 5", "gate_up_proj_adapter_list.0.0.weight"]),
            ("falcon_h1", {"mamba_d_state": 255}, ["mamba_d_state is 255", "model.layers.0.mamba.conv1d.weight"]),
            ("bamba", {"mamba_d_conv": 3}, ["mamba_d_conv is 3", "model.layers.0.mamba.conv1d.weight"]),
            ("zamba2", {"num_mem_blocks": 1}, ["num_mem_blocks is 1", "model.layers.5.shared_transformer.input_layernorm.weight"]),
            ("zamba2", {"intermediate_size": 5}, ["intermediate_size is 5", "model.layers.2.shared_transformer.feed_forward.gate_up_proj.weight"]),
            ("mamba", {"expand": 3, "intermediate_size": None}, ["expand and hidden_size do not make the width 1536", "backbone.layers.0.mixer.A_log"]),
            ("mamba2", {"expand": 2.5}, ["expand and hidden_size do not make the width 8192", "backbone.layers.0.mixer.out_proj.weight"]),
            ("jamba", {"mamba_expand": 3}, ["mamba_expand and hidden_size do not make the width 8192", "model.layers.0.mamba.A_log"]),
            ("bamba", {"mamba_expand": 3}, ["mamba_expand and hidden_size do not make the width 8192", "model.layers.0.mamba.out_proj.weight"]),
            ("zamba2", {"attention_hidden_size": 5}, ["attention_hidden_size is 5", "shared_transformer.self_attn.q_proj.weight"]),
            ("granitemoehybrid", {"shared_intermediate_size": 5}, ["shared_intermediate_size is 5", "model.layers.0.shared_mlp.input_linear.weight"]),
        ):  # fmt: skip
            row = ROWS[model_type]
            folder = self.folder / str(len(list(self.folder.iterdir())))
            write_folder(folder, {k: v for k, v in {**row["config"], **change}.items() if v is not None}, tensors_of(row["tensors"]))
            with self.subTest(model_type, change=change):
                self.assert_refused(4, words, folder)

    def test_layers_of_bert_have_a_cache_only_as_decoders(self):
        """12 layers, each 2 · 768 numbers of 4 bytes for 8 tokens, if the configuration has is_decoder, as in transformers' BertLMHeadModel."""
        row = ROWS["bert"]
        for model_type in ("bert", "newbert"):
            for change, cache_bytes in (({}, None), ({"is_decoder": False}, None), ({"is_decoder": True}, 12 * 2 * 768 * 4 * 8)):
                folder = self.folder / f"{model_type}{change}"
                write_folder(folder, {**row["config"], "model_type": model_type, "architectures": ["BertForCausalLM"], **change}, tensors_of(row["tensors"]))
                with self.subTest(model_type, change=change):
                    self.assertEqual(report(folder, PLUGINS, "--bind", "sequence=8")["totals"].get("kv_cache_bytes"), cache_bytes)

    def test_sparse_attention_of_an_unchecked_type_is_not_written_down(self):
        row = ROWS["roberta"]
        for key in ("attention_window", "num_random_blocks", "num_landmarks"):
            folder = self.folder / key
            write_folder(folder, {**row["config"], "model_type": "newsparse", key: 64}, tensors_of(row["tensors"]))
            with self.subTest(key):
                done = report(folder, PLUGINS)
                self.assertEqual(done["nodes"], [])
                self.assertIn(f"config.json has {key}", " ".join(map(str, done["warnings"])))

    def test_windows_of_longformer(self):
        for model_type, change, words in (
            ("longformer", {"attention_window": 63}, ["attention_window is 63", "even"]),
            ("longformer", {"attention_window": 0}, ["attention_window is 0"]),
            ("longformer", {"attention_window": -2}, ["attention_window is -2, which no model has"]),
            ("led", {"max_encoder_position_embeddings": 5}, ["max_encoder_position_embeddings is 5", "led.encoder.embed_positions.weight"]),
            ("led", {"max_decoder_position_embeddings": 5}, ["max_decoder_position_embeddings is 5", "led.decoder.embed_positions.weight"]),
        ):
            row = ROWS[model_type]
            folder = self.folder / str(len(list(self.folder.iterdir())))
            write_folder(folder, {**row["config"], **change}, tensors_of(row["tensors"]))
            with self.subTest(model_type, change=change):
                self.assert_refused(4, words, folder)

    def test_windows_that_differ_by_layer(self):
        """A window of w over n tokens, n a multiple of 64: (n/w·2 - 1)·w² products of queries and keys, n·1.5·w of shares and values."""
        row = ROWS["longformer"]
        layers, heads, width = row["config"]["num_hidden_layers"], row["config"]["num_attention_heads"], 64
        macs = {}
        for windows in ([64] * layers, [32] + [64] * (layers - 1)):
            folder = self.folder / str(windows[0])
            write_folder(folder, {**row["config"], "attention_window": windows}, tensors_of(row["tensors"]))
            macs[windows[0]] = report(folder, PLUGINS, "--bind", "sequence=100")["totals"]["macs"]
        of = {w: (128 // w * 2 - 1) * w * w * heads * width + 128 * 3 * w // 2 * heads * width for w in macs}
        self.assertEqual(macs[64] - macs[32], of[64] - of[32])

    def test_a_width_of_auto_follows_from_other_sizes(self):
        """Published configurations of Bamba and Granite 4 state "auto"."""
        row = ROWS["bamba"]
        write_folder(self.folder, {**row["config"], "mamba_d_head": "auto"}, tensors_of(row["tensors"]))
        done = report(self.folder, PLUGINS, "--bind", "sequence=8")
        self.assertEqual((done["totals"]["macs"], done["coverage"]["unknown"]), (row["runs"][0]["flops"] / 2, 0))

    def test_a_pattern_names_layers(self):
        """NVIDIA publishes Nemotron-H in this form."""
        row = ROWS["nemotron_h"]
        config = {k: v for k, v in row["config"].items() if k != "layers_block_type"}
        write_folder(self.folder, {**config, "num_hidden_layers": 4, "hybrid_override_pattern": "ME*-"}, tensors_of(row["tensors"]))
        for run in row["runs"]:
            done = report(self.folder, PLUGINS, "--bind", f"batch={run['size'][0]}", "--bind", f"sequence={run['size'][1]}")
            self.assertEqual((done["totals"]["macs"], done["coverage"]["unknown"]), (run["flops"] / 2, 0))

    def test_a_shared_block_without_weights(self):
        """Zamba 2's layers share blocks; without a block, the weights alone are reported."""
        row = ROWS["zamba2"]
        write_folder(self.folder, row["config"], {n: t for n, t in tensors_of(row["tensors"]).items() if "layers.2.shared_transformer" not in n})
        done = report(self.folder, PLUGINS)
        self.assertEqual(done["nodes"], [])
        self.assertIn("shared_transformer", str(done["warnings"]))

    def test_tables_of_types_and_tasks(self):
        row = ROWS["ernie"]
        tensors = tensors_of(row["tensors"])
        types = next(n for n in tensors if n.endswith("token_type_embeddings.weight"))
        size = row["config"]["hidden_size"]
        tensors[types.replace("token_type", "task_type")] = ("float32", [3, size])  # with use_task_id
        write_folder(self.folder / "with", row["config"], tensors)
        self.assertEqual(report(self.folder / "with", PLUGINS)["coverage"]["unknown"], 0)
        write_folder(self.folder / "other", {**row["config"], "task_type_vocab_size": 4}, tensors)
        self.assert_refused(4, ["task_type_vocab_size is 4", "task_type_embeddings.weight"], self.folder / "other")

    def test_position_tables_of_an_unchecked_type_may_differ(self):
        """Its table may have rows for an offset (OPT's has two), so a difference is accepted, and MACs are a lower bound."""
        config, tensors = small_llama(model_type="newmodel", max_position_embeddings=512, type_vocab_size=1)
        for name, rows in (("embed_positions", 514), ("token_type_embeddings", 2)):
            tensors[f"model.{name}.weight"] = ("float32", [rows, 64])
        write_folder(self.folder, config, tensors)
        done = report(self.folder, PLUGINS, "--bind", "sequence=10")
        self.assertEqual(done["totals"]["macs"], 2 * (10 * 36_864 + 2 * 64 * 10 * 10) + 10 * 6_400)
        self.assertEqual(done["totals_status"]["macs"], "lower_bound")

    def test_only_layers_that_predict_further_tokens_are_left_out(self):
        for model_type in ("deepseek_v3", "glm4_moe"):
            row = ROWS[model_type]
            self.assertEqual(row["config"]["num_nextn_predict_layers"], 1)
            layers = row["config"]["num_hidden_layers"]
            tensors = tensors_of(row["tensors"])
            write_folder(self.folder / model_type, {**row["config"], "num_hidden_layers": layers - 1}, tensors)
            self.assert_refused(4, [f"num_hidden_layers is {layers - 1}", f"the weights have {layers} layers"], self.folder / model_type)
            # One more layer, as in checkpoints: counted as parameters, not run.
            size = row["config"]["hidden_size"]
            last = {n.replace(f".{layers - 1}.", f".{layers}."): t for n, t in tensors.items() if f"layers.{layers - 1}." in n}
            last |= {f"model.layers.{layers}.eh_proj.weight": ("bfloat16", [size, 2 * size]), f"model.layers.{layers}.enorm.weight": ("bfloat16", [size])}
            write_folder(self.folder / "with", row["config"], {**tensors, **last})
            run = row["runs"][0]
            done = report(self.folder / "with", PLUGINS, "--bind", f"batch={run['size'][0]}", "--bind", f"sequence={run['size'][1]}")
            self.assertEqual(done["totals"]["macs"], run["flops"] / 2)

    def test_a_predictor_in_the_same_checkpoint(self):
        """Checkpoints of Qwen3-Next have one."""
        row = ROWS["qwen3_next"]
        tensors = tensors_of(row["tensors"])
        size = row["config"]["hidden_size"]
        last = {n.replace("model.layers.3.", "mtp.layers.0."): t for n, t in tensors.items() if n.startswith("model.layers.3.")}
        write_folder(self.folder, row["config"], {**tensors, **last, "mtp.fc.weight": ("bfloat16", [size, 2 * size])})
        run = row["runs"][0]
        done = report(self.folder, PLUGINS, "--bind", f"batch={run['size'][0]}", "--bind", f"sequence={run['size'][1]}")
        self.assertEqual(done["totals"]["macs"], run["flops"] / 2)
        self.assertEqual(done["coverage"]["unknown"], 0)

    def test_empty_tensors_give_no_sizes(self):
        """Empty tensors that should give a size: the weights alone are reported, or one line names the fault."""
        for model_type, name in (("mamba2", "backbone.layers.0.mixer.A_log"), ("mamba", "backbone.layers.0.mixer.A_log"), ("mamba", "backbone.layers.0.mixer.conv1d.weight"),
                                 ("wav2vec2", "wav2vec2.feature_extractor.conv_layers.0.conv.weight"), ("whisper", "model.encoder.conv1.weight"),
                                 ("qwen3_next", "model.layers.0.linear_attn.conv1d.weight"), ("t5", "encoder.block.0.layer.0.SelfAttention.q.weight")):  # fmt: skip
            row = ROWS[model_type]
            tensors = tensors_of(row["tensors"])
            dtype, shape = tensors[name]
            tensors[name] = (dtype, [0] * len(shape))
            write_folder(self.folder / name, row["config"], tensors)
            done = tmeter(self.folder / name, "--plugins=params,flops,language-model")
            with self.subTest(model_type, name=name):
                self.assertIn(done.returncode, (0, 4))
                self.assertLessEqual(len(done.stderr.splitlines()), 2)

    def test_a_tensor_of_another_width(self):
        config, tensors = small_llama()
        tensors["model.layers.1.mlp.down_proj.weight"] = ("float32", [64, 127])
        write_folder(self.folder, config, tensors)
        self.assert_refused(4, ["model.layers.1.mlp.down_proj.weight", "[64, 127]", "128"], self.folder)

    def test_an_unsupported_tensor_is_an_unknown_operator(self):
        """An adapter in every layer: its weights are counted, and the products are a marked lower bound."""
        config, tensors = small_llama()
        tensors["model.layers.0.adapter.weight"] = ("float32", [64, 64])
        write_folder(self.folder, config, tensors)
        done = report(self.folder, PLUGINS)
        self.assertEqual(done["coverage"]["unknown"], 1)
        self.assertEqual(done["coverage"]["unknown_ops"][0]["op"], "blueprint::not_understood")

    def test_an_unchecked_type_is_an_unknown_operator_with_a_warning(self):
        done = report(self.write(model_type="acme_llm"), PLUGINS)
        self.assertEqual(done["coverage"]["unknown_ops"][0]["op"], "transformers::acme_llm_model")
        self.assertIn("acme_llm is not among those", str(done["warnings"]))

    def test_an_unchecked_encoder_has_no_cache(self):
        for name, cached in (("AcmeForMaskedLM", False), ("AcmeForTokenClassification", False), ("AcmeModel", True), ("AcmeForCausalLM", True)):
            write_folder(self.folder / name, *small_llama(model_type="acme_llm", architectures=[name]))
            totals = report(self.folder / name, PLUGINS)["totals"]
            self.assertEqual(totals.get("kv_cache_bytes") is not None, cached, name)

    def test_an_unsupported_structure(self):
        config, _ = small_llama()
        write_folder(self.folder, config, {"whatever.weight": ("float32", [4, 4])})
        done = report(self.folder, "--plugins=params,flops")
        self.assertEqual((done["totals"]["params"], done["nodes"]), (16, []))
        self.assertIn("the operators are not known", str(done["warnings"]))


if __name__ == "__main__":
    main()
