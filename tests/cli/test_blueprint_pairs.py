"""`tmeter FOLDER` of encoder-decoder models and of audio models: their costs by hand, and published values."""
import sys

from support import SOURCE, CliTest, main, report, tmeter

sys.path.insert(0, str(SOURCE / "tests" / "blueprint"))
from folders import rows_of, tensors_of, write_folder  # noqa: E402

ROWS = {r["type"]: r for r in rows_of(SOURCE / "tests" / "blueprint" / "transformers.jsonl") if "type" in r}
PLUGINS = "--plugins=params,flops,memory,language-model"


def small_t5(**config):
    config = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 8, "d_kv": 4, "num_heads": 2, "d_ff": 16, "num_layers": 1,
              "num_decoder_layers": 1, "vocab_size": 10, "dense_act_fn": "relu", **config}  # fmt: skip
    tensors = {"shared.weight": [10, 8], "encoder.final_layer_norm.weight": [8], "decoder.final_layer_norm.weight": [8]}
    for side, parts in (("encoder", ["SelfAttention", ""]), ("decoder", ["SelfAttention", "EncDecAttention", ""])):
        for i, part in enumerate(parts):
            at = f"{side}.block.0.layer.{i}."
            tensors[at + "layer_norm.weight"] = [8]
            shapes = {"wi": [16, 8], "wo": [8, 16]} if not part else dict.fromkeys("qkvo", [8, 8])
            tensors |= {f"{at}{part or 'DenseReluDense'}.{n}.weight": s for n, s in shapes.items()}
        tensors[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = [4, 2]
    return config, {n: ("float32", s) for n, s in tensors.items()}


class Pairs(CliTest):
    def test_by_hand(self):
        """Encoder: each token 4·64 + 2·128 = 512 products, attention 2·8·6². Decoder: each token 4·64 + 2·64 + 2·128 = 640, each encoder token 2·64 for keys
        and values, attention 2·8·5² and 2·8·5·6, head 80. Cache: 2·8·4 bytes for each token of both."""
        write_folder(self.folder, *small_t5())
        done = report(self.folder, PLUGINS, "--bind", "batch=3", "--bind", "sequence=5", "--bind", "encoder_sequence=6")
        totals = done["totals"]
        self.assertEqual(totals["macs"], 3 * (6 * 512 + 16 * 36 + 5 * 640 + 6 * 128 + 16 * 25 + 16 * 30 + 5 * 80))
        self.assertEqual(totals["kv_cache_bytes"], 3 * (5 + 6) * 64)
        self.assertEqual(totals["kv_bytes_per_token"], 64)
        # One more token: no work of the encoder, and no new keys and values from it.
        self.assertEqual(totals["decode_macs"], 640 + 80 + 16 * 5 + 16 * 6)
        weights = 4 * 64 + 2 * 64 + 2 * 128 + 4 * 8 + 80
        self.assertEqual(totals["decode_read_bytes"], 4 * weights + (5 + 6) * 64)
        self.assertEqual(done["coverage"]["unknown"], 0)
        self.assertEqual([s["name"] for s in done["symbols"]], ["batch", "encoder_sequence", "sequence"])

    def test_everything_works_as_on_an_exported_file(self):
        write_folder(self.folder, *small_t5())
        done = tmeter(self.folder, "--plugins=params,flops,memory,energy,roofline,language-model,serving", "--sweep", "encoder_sequence=1,64", "--assert", "macs < 1G")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_contradictions(self):
        for change, words in [
            ({"num_layers": 2}, ["num_layers is 2", "encoder.block"]),
            ({"num_decoder_layers": 2}, ["num_decoder_layers is 2", "decoder.block"]),
            ({"num_heads": 4}, ["num_heads is 4", "encoder.block.0.layer.0.SelfAttention.q.weight"]),
            ({"d_ff": 8}, ["d_ff is 8", "encoder.block.0.layer.1.DenseReluDense.wi.weight"]),
        ]:  # fmt: skip
            with self.subTest(change):
                config, tensors = small_t5()
                folder = self.folder / "".join(change)
                write_folder(folder, {**config, **change}, tensors)
                self.assert_refused(4, words, folder)

    def test_an_encoder_alone(self):
        """Like diffusers' T5: the encoder's products above. A decoder alone does not define a run."""
        config, tensors = small_t5(architectures=["T5EncoderModel"])
        for side in ("encoder", "decoder"):
            write_folder(self.folder / side, config, {n: t for n, t in tensors.items() if n.startswith((side, "shared"))})
        done = report(self.folder / "encoder", PLUGINS, "--bind", "batch=3", "--bind", "sequence=6")
        self.assertEqual(done["totals"]["macs"], 3 * (6 * 512 + 16 * 36))
        self.assertEqual(done["coverage"]["unknown"], 0)
        self.assertIsNone(done["totals"]["kv_cache_bytes"])
        done = report(self.folder / "decoder", "--plugins=params,flops")
        self.assertEqual(done["nodes"], [])
        self.assertIn("of encoder and decoder there is only decoder.block", str(done["warnings"]))

    def test_the_length_of_the_encoder_of_whisper(self):
        """Its convolutions halve the number of frames, so the input has twice as many; the table of positions limits the range."""
        row = ROWS["whisper"]
        write_folder(self.folder, row["config"], tensors_of(row["tensors"]))
        done = report(self.folder, PLUGINS)
        self.assertEqual(done["inputs"][0]["shape"], [1, 80, 3000])
        done = report(self.folder, PLUGINS, "--bind", "encoder_sequence=100")
        self.assertEqual(done["inputs"][0]["shape"], [1, 80, 200])
        done = tmeter(self.folder, PLUGINS, "--bind", "encoder_sequence=1501")
        self.assertEqual(done.returncode, 2)
        self.assertIn("1…1500", done.stderr)
        write_folder(self.folder / "changed", {**row["config"], "max_source_positions": 750}, tensors_of(row["tensors"]))
        self.assert_refused(4, ["max_source_positions is 750", "model.encoder.embed_positions.weight", "[1500, 384]"], self.folder / "changed")

    def test_samples_of_sound(self):
        """Kernels 10, 3, 3, 3, 3, 2, 2 and strides 5, 2, 2, 2, 2, 2, 2: a frame takes 400 samples, a second makes 49 (arXiv:2006.11477, 4.2)."""
        row = ROWS["wav2vec2"]
        write_folder(self.folder, row["config"], tensors_of(row["tensors"]))
        for samples, frames in ((400, 1), (719, 1), (720, 2), (16000, 49)):
            done = report(self.folder, PLUGINS, "--bind", f"samples={samples}")
            self.assertEqual(done["outputs"][0]["shape"], [1, frames, 32])
        done = tmeter(self.folder, PLUGINS, "--bind", "samples=399")
        self.assertEqual(done.returncode, 2)
        self.assertIn("400…", done.stderr)

    def test_contradictions_of_sound(self):
        row = ROWS["wav2vec2"]
        for change, words in [
            ({"conv_kernel": [10, 3, 3, 3, 3, 2, 3]}, ["conv_kernel of layer 6 is 3", "feature_extractor.conv_layers.6.conv.weight", "[512, 512, 2]"]),
            ({"num_conv_pos_embeddings": 64}, ["num_conv_pos_embeddings is 64", "[768, 48, 128]"]),
            ({"num_attention_heads": 7, "head_dim": 64}, ["num_attention_heads is 7", "encoder.layers.0.attention.q_proj.weight"]),
        ]:  # fmt: skip
            with self.subTest(change):
                write_folder(self.folder / next(iter(change)), {**row["config"], **change}, tensors_of(row["tensors"]))
                self.assert_refused(4, words, self.folder / next(iter(change)))


if __name__ == "__main__":
    main()
