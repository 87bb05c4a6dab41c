"""Models of the survey with inputs that the configuration does not describe: texts with images, flags, graphs, series, speech."""


def _ids(*sizes, high=50):
    import torch

    return torch.randint(3, high, sizes)


def eomt():
    import torch
    from transformers import EomtConfig, EomtForUniversalSegmentation

    config = EomtConfig(
        hidden_size=32, num_hidden_layers=3, num_attention_heads=4, image_size=64, patch_size=16, num_queries=5,
        num_blocks=1, num_upscale_blocks=1,
    )  # fmt: skip
    return EomtForUniversalSegmentation(config), {"pixel_values": torch.randn(1, 3, 64, 64)}


def pvt():
    import torch
    from transformers import PvtConfig, PvtForImageClassification

    config = PvtConfig(
        image_size=64, hidden_sizes=[8, 16, 16, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1],
        sequence_reduction_ratios=[8, 4, 2, 1],
    )  # fmt: skip
    return PvtForImageClassification(config), {"pixel_values": torch.randn(2, 3, 64, 64)}


def led():
    from transformers import LEDConfig, LEDModel

    config = LEDConfig(
        vocab_size=200, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, attention_window=8,
        max_encoder_position_embeddings=64, max_decoder_position_embeddings=64,
    )  # fmt: skip
    return LEDModel(config), {"input_ids": _ids(1, 16), "decoder_input_ids": _ids(1, 8), "use_cache": False}


def longt5():
    from transformers import LongT5Config, LongT5Model

    config = LongT5Config(vocab_size=200, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, local_radius=3)
    return LongT5Model(config), {"input_ids": _ids(1, 16), "decoder_input_ids": _ids(1, 8), "use_cache": False}


def fsmt():
    from transformers import FSMTConfig, FSMTModel

    config = FSMTConfig(
        src_vocab_size=200, tgt_vocab_size=200, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
    )  # fmt: skip
    return FSMTModel(config), {"input_ids": _ids(1, 16), "decoder_input_ids": _ids(1, 8), "use_cache": False}


def informer():
    return _series("Informer")


def time_series_transformer():
    return _series("TimeSeriesTransformer")


def _series(kind):
    import torch
    import transformers

    config = getattr(transformers, f"{kind}Config")(
        prediction_length=4, context_length=8, lags_sequence=[1, 2], num_time_features=1, d_model=16, encoder_layers=2,
        decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
    )  # fmt: skip
    past = 10
    return getattr(transformers, f"{kind}Model")(config), {
        "past_values": torch.rand(1, past), "past_time_features": torch.rand(1, past, 1),
        "past_observed_mask": torch.ones(1, past), "future_values": torch.rand(1, 4),
        "future_time_features": torch.rand(1, 4, 1), "use_cache": False,
    }  # fmt: skip


def qwen2_vl():
    import torch
    from transformers import Qwen2VLConfig, Qwen2VLModel

    text = dict(
        vocab_size=200, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]},
    )  # fmt: skip
    vision = dict(depth=2, embed_dim=32, hidden_size=32, num_heads=4, mlp_ratio=2, patch_size=4, spatial_merge_size=2)
    config = Qwen2VLConfig(text_config=text, vision_config=vision, image_token_id=5, video_token_id=6,
                           vision_start_token_id=7, vision_end_token_id=8)  # fmt: skip
    ids = _ids(1, 16)
    ids[ids < 9] = 9
    ids[0, 2], ids[0, 3:7] = 7, 5
    # one image of 4 × 4 patches, of which four become a token
    return Qwen2VLModel(config), {
        "input_ids": ids, "pixel_values": torch.randn(16, 3 * 2 * 4 * 4), "image_grid_thw": torch.tensor([[1, 4, 4]]),
        "mm_token_type_ids": (ids == 5).int(), "use_cache": False,
    }  # fmt: skip


def ovis2():
    import torch
    from transformers import Ovis2Config, Ovis2Model, Qwen2Config
    from transformers.models.ovis2.configuration_ovis2 import Ovis2VisionConfig

    vision = Ovis2VisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=16, patch_size=4,
        vocab_size=32, hidden_stride=2, num_visual_indicator_tokens=5,
    )  # fmt: skip
    text = Qwen2Config(vocab_size=200, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                       num_attention_heads=4, num_key_value_heads=2)  # fmt: skip
    config = Ovis2Config(vision_config=vision, text_config=text, image_token_id=5, hidden_size=32,
                         visual_indicator_token_ids=[6, 7, 8, 9, 10])  # fmt: skip
    ids = _ids(1, 12)
    ids[ids < 11] = 11
    ids[0, 2:6] = 5
    return Ovis2Model(config), {"input_ids": ids, "pixel_values": torch.randn(1, 3, 16, 16), "use_cache": False}


def mimi():
    import torch
    from transformers import MimiConfig, MimiModel

    config = MimiConfig(
        num_filters=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, head_dim=8,
        intermediate_size=64, codebook_size=32, codebook_dim=16, vector_quantization_hidden_dimension=16,
        num_quantizers=4, upsample_groups=32, sliding_window=16,
    )  # fmt: skip
    return MimiModel(config), {"input_values": torch.randn(1, 1, 3840)}


def fastspeech2_conformer():
    from transformers import FastSpeech2ConformerConfig, FastSpeech2ConformerModel

    config = FastSpeech2ConformerConfig(
        vocab_size=50, num_mel_bins=8, hidden_size=32, encoder_layers=2, decoder_layers=2, encoder_num_attention_heads=4,
        decoder_num_attention_heads=4, encoder_linear_units=64, decoder_linear_units=64, speech_decoder_postnet_units=16,
        speech_decoder_postnet_layers=2, duration_predictor_channels=16, pitch_predictor_channels=16,
        energy_predictor_channels=16,
    )  # fmt: skip
    return FastSpeech2ConformerModel(config), {"input_ids": _ids(1, 10), "return_dict": True}


def _graph(nodes=12, edges=40):
    import torch

    return {"x": torch.randn(nodes, 8), "edge_index": torch.randint(0, nodes, (2, edges))}


def gcn():
    from torch_geometric.nn.models import GCN

    return GCN(8, 16, 2, 4), _graph()


def gatv2():
    from torch_geometric.nn.models import GAT

    return GAT(8, 16, 2, 4, v2=True, heads=2), _graph()


def gin():
    from torch_geometric.nn.models import GIN

    return GIN(8, 16, 2, 4), _graph()


def pna():
    import torch
    from torch_geometric.nn.models import PNA

    return PNA(8, 16, 2, 4, aggregators=["mean", "max", "std"], scalers=["identity", "amplification"],
               deg=torch.tensor([1, 2, 3, 4])), _graph()  # fmt: skip


def edge_cnn():
    from torch_geometric.nn.models import EdgeCNN

    return EdgeCNN(8, 16, 2, 4), _graph()


def graph_unet():
    from torch_geometric.nn.models import GraphUNet

    return GraphUNet(8, 16, 4, depth=2), _graph()


SPECIAL = {
    f.__name__: f for f in (
        eomt, pvt, led, longt5, fsmt, informer, time_series_transformer, qwen2_vl, ovis2, mimi,
        fastspeech2_conformer, gcn, gatv2, gin, pna, edge_cnn, graph_unet,
    )
}  # fmt: skip
