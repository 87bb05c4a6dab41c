"""The models of the survey, small and made from configurations: name → a function that returns the module and its keyword arguments."""

from functools import partial

from survey_special import SPECIAL

#: transformers' model types whose base class takes the inputs that its configuration describes.
PLAIN = """
afmoe apertus arcee aria_text bert-generation bigbird_pegasus biogpt bitnet blenderbot blenderbot-small camembert
clip_vision_model codegen cohere2 cpmant ctrl cwm data2vec-text data2vec-vision diffllama dinov2_with_registers
dinov3_convnext doge ernie ernie4_5 ernie4_5_moe eurobert exaone4 flaubert flex_olmo fsmt gemma3_text glm glm4 glm4_moe
gpt_bigcode gpt_neox_japanese granite_swa granitemoe granitemoeshared gte helium hrm_text ibert ijepa imagegpt jais2
jetmoe kimi_linear lfm2 longcat_flash longt5 luke m2m_100 markuplm megatron-bert mellum minimax ministral3
mistral4 mlcd_vision_model mobilenet_v1 modernbert-decoder mra mt5 mvp nanochat nllb-moe nomic_bert olmo3 olmoe openai-gpt
persimmon phimoe pixio plbart prophetnet qwen3_5_text qwen3_next radio rembert roberta-prelayernorm roc_bert roformer
seed_oss sew siglip_vision_model splinter swin2sr t5gemma textnet umt5 unispeech vaultgemma visual_bert vit_mae vit_msn
wav2vec2-conformer xglm xlm-roberta-xl xmod yoso youtu zamba2
""".split()

#: Further types of the same kind.
FURTHER = """
aimv2_vision_model chinese_clip_vision_model clip_text_model csm data2vec-audio deepseek_v4 dinov3_vit dpr falcon_h1
focalnet granite_docling_text hgnet_v2 hiera inkling_text internvl_vision mgp-str mimo_v2_flash minimax_m2 moonshine
nemotron_h olmo_hybrid openai_privacy_filter pegasus_x qwen3_5_moe_text qwen3_vl_text qwen3_vl_moe_text
sam_vision_model sew-d swiftformer tapas tipsv2_vision_model ultrabert unispeech-sat vitdet vits
""".split()

#: timm's models, each at a size that it accepts.
TIMM = {
    **dict.fromkeys("""
        botnet26t_256 lamhalobotnet50ts_256 halo2botnet50ts_256 eca_halonext26ts gcresnext26ts cs3darknet_s
        cs3sedarknet_xdw darknetaa53 densenetblur121d dla46x_c dpn48b ecaresnet26t edgenext_xx_small efficientvit_m0
        ese_vovnet19b_slim fbnetc_100 gcvit_xxtiny gernet_s ghostnet_050 hardcorenas_a hgnetv2_b0 hrnet_w18_small
        inception_next_atto lcnet_035 lambda_resnet26t levit_conv_128s mixer_s32_224 mobilenetv4_conv_small_035
        mobileone_s0 nf_regnet_b0 nfnet_f0 pvt_v2_b0 regnetz_005 repghostnet_050 repvgg_a0 resnest14d
        resnet10t rexnetr_200 sebotnet33ts_256 seresnext26t_32x4d spnasnet_100 starnet_s050 tf_mixnet_s tinynet_e
        vit_xsmall_patch16_clip_224 vovnet39a wide_resnet50_2 xcit_nano_12_p8_224 mambaout_femto rdnet_tiny
        """.split(), None),
}  # fmt: skip

#: Values for the integers of a configuration with these names.
SMALL = {
    **dict.fromkeys(["hidden_size", "d_model", "n_embd", "dim", "embed_dim"], 32),
    **dict.fromkeys(["num_hidden_layers", "n_layers", "n_layer", "num_layers"], 2),
    **dict.fromkeys(["encoder_layers", "decoder_layers", "num_decoder_layers", "num_encoder_layers"], 1),
    **dict.fromkeys(["num_attention_heads", "n_heads", "n_head", "num_heads"], 4),
    **dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 4),
    **dict.fromkeys(["intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim", "d_ff", "n_inner"], 64),
    **dict.fromkeys(["moe_intermediate_size", "shared_expert_intermediate_size"], 16),
    **dict.fromkeys(["num_experts", "n_routed_experts", "num_local_experts"], 4),
    **dict.fromkeys(["qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "head_dim", "d_kv", "patch_size"], 8),
    **dict.fromkeys(["q_lora_rank", "kv_lora_rank"], 16),
    **dict.fromkeys(["num_key_value_heads", "num_experts_per_tok"], 2),
    **dict.fromkeys(["n_group", "topk_group", "bos_token_id"], 1),
    "vocab_size": 200, "max_position_embeddings": 128, "image_size": 32, "pad_token_id": 0, "eos_token_id": 2,
}  # fmt: skip


def shrunk(config):
    whole = lambda v: isinstance(v, int) and not isinstance(v, bool)  # noqa: E731
    return {k: v for k, v in SMALL.items() if whole(getattr(config, k, None))}


def plain(name):
    """The base class of a type, with the inputs that tmeter would take from its configuration."""
    import torch
    import transformers
    from tmeter.export.default_inputs import inputs_of_configuration
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    kind = CONFIG_MAPPING[name]
    config = kind(**shrunk(kind()))
    config.use_cache = False  # a cache cannot be exported or traced
    model = MODEL_MAPPING_NAMES[name]
    model = getattr(transformers, model if isinstance(model, str) else model[0])(config)
    return model, {
        key: torch.randint(3, 50, (1, 16)) if shape.dtype == "int64" else torch.randn(shape.sizes)
        for key, shape in inputs_of_configuration(model).items()
    }


def timm_s(name):
    import timm
    import torch

    model = timm.create_model(name, pretrained=False)
    return model, {"x": torch.randn(1, *model.default_cfg["input_size"])}


MODELS = (
    {name: partial(plain, name) for name in (*PLAIN, *FURTHER)}
    | SPECIAL
    | {f"timm/{name}": partial(timm_s, name) for name in TIMM}
)
