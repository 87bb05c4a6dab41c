"""transformers' architectures, made from their configurations; nothing is downloaded.

Sizes are those of the configuration if it describes a model of ordinary size. Large language models
keep their width and have ``LAYERS`` layers, because all layers are equal.
"""

from table import Entry, Input

LAYERS = {"num_hidden_layers": 2}
LENGTH = 128


def ids(name="input_ids", length=LENGTH, batch=1) -> Input:
    return Input((batch, length), "int64", name)


def floats(name, *shape) -> Input:
    return Input(shape, "float32", name)


def image(size=224, name="pixel_values") -> Input:
    return floats(name, 1, 3, size, size)


TEXT = (ids(),)
PAIR = (ids(), ids("attention_mask"))
SEQ2SEQ = (ids(), ids("decoder_input_ids", 32))
CONV_BACKBONE = {"use_pretrained_backbone": False}
SMALL_MOE = LAYERS | {
    "hidden_size": 512, "intermediate_size": 1024, "moe_intermediate_size": 256,
    "shared_expert_intermediate_size": 512, "num_experts": 8, "num_experts_per_tok": 2,
    "num_attention_heads": 8, "num_key_value_heads": 2,
}  # fmt: skip

#: name: (class, inputs, changes to the configuration)
MODELS = {
    # encoders of text
    "bert": ("BertForMaskedLM", PAIR, {}),
    "bert-classifier": ("BertForSequenceClassification", (*PAIR, ids("token_type_ids")), {}),
    "roberta": ("RobertaForMaskedLM", PAIR, {}),
    "xlm-roberta": ("XLMRobertaForTokenClassification", TEXT, {}),
    "albert": ("AlbertForMaskedLM", TEXT, {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}),
    "distilbert": ("DistilBertForQuestionAnswering", PAIR, {}),
    "electra": ("ElectraForPreTraining", TEXT, {}),
    "deberta": ("DebertaForMaskedLM", PAIR, {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "deberta-v2": ("DebertaV2ForMaskedLM", PAIR, LAYERS | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "mpnet": ("MPNetForMaskedLM", TEXT, {}),
    "modernbert": ("ModernBertForMaskedLM", PAIR, {"num_hidden_layers": 4}),
    "convbert": ("ConvBertForMaskedLM", TEXT, {}),
    "squeezebert": ("SqueezeBertForMaskedLM", TEXT, {}),
    "mobilebert": ("MobileBertForMaskedLM", TEXT, {}),
    "fnet": ("FNetForMaskedLM", TEXT, {}),
    "funnel": ("FunnelForMaskedLM", TEXT, {}),
    "nystromformer": ("NystromformerForMaskedLM", (ids(length=256),), {}),
    "longformer": ("LongformerForMaskedLM", (ids(length=1024),), LAYERS | {"attention_window": 256, "max_position_embeddings": 1026}),
    "big-bird": ("BigBirdForMaskedLM", (ids(length=1024),), LAYERS),
    "canine": ("CanineForSequenceClassification", (ids(length=512),), {}),
    "esm": ("EsmForMaskedLM", PAIR, {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32}),
    "xlnet": ("XLNetLMHeadModel", TEXT, LAYERS | {"mem_len": None, "use_mems_eval": False}),
    "reformer": ("ReformerModelWithLMHead", (ids(length=512),), {"is_decoder": True, "axial_pos_shape": [16, 32]}),
    "perceiver": ("PerceiverForMaskedLM", (ids("inputs", 256),), {"num_self_attends_per_block": 4}),
    # decoders of text
    "gpt2": ("GPT2LMHeadModel", TEXT, {}),
    "gpt-neo": ("GPTNeoForCausalLM", TEXT, LAYERS | {"attention_types": [[["global", "local"], 1]]}),
    "gpt-neox": ("GPTNeoXForCausalLM", TEXT, LAYERS),
    "gpt-j": ("GPTJForCausalLM", TEXT, {"n_layer": 2}),
    "opt": ("OPTForCausalLM", TEXT, {}),
    "bloom": ("BloomForCausalLM", TEXT, {"n_layer": 4, "hidden_size": 1024, "n_head": 16}),
    "llama": ("LlamaForCausalLM", TEXT, LAYERS),
    "llama-gqa": ("LlamaForCausalLM", (ids(batch=2),), LAYERS | {"num_key_value_heads": 8}),
    "mistral": ("MistralForCausalLM", TEXT, LAYERS),
    "qwen2": ("Qwen2ForCausalLM", TEXT, LAYERS | {"num_key_value_heads": 4}),
    "qwen3": ("Qwen3ForCausalLM", TEXT, LAYERS | {"num_key_value_heads": 4}),
    "gemma": ("GemmaForCausalLM", TEXT, LAYERS),
    "gemma2": ("Gemma2ForCausalLM", TEXT, LAYERS),
    "gemma3": ("Gemma3ForCausalLM", TEXT, LAYERS),
    "phi": ("PhiForCausalLM", TEXT, LAYERS),
    "phi3": ("Phi3ForCausalLM", TEXT, LAYERS | {"pad_token_id": 0}),
    "falcon": ("FalconForCausalLM", TEXT, LAYERS),
    "mpt": ("MptForCausalLM", TEXT, {"n_layers": 2}),
    "stablelm": ("StableLmForCausalLM", TEXT, LAYERS),
    "starcoder2": ("Starcoder2ForCausalLM", TEXT, LAYERS),
    "olmo2": ("Olmo2ForCausalLM", TEXT, LAYERS),
    "cohere": ("CohereForCausalLM", TEXT, LAYERS | {"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}),
    "granite": ("GraniteForCausalLM", TEXT, LAYERS),
    "smollm3": ("SmolLM3ForCausalLM", TEXT, LAYERS | {"pad_token_id": 0}),
    "mixtral": ("MixtralForCausalLM", TEXT, SMALL_MOE | {"num_local_experts": 8}),
    "qwen2-moe": ("Qwen2MoeForCausalLM", TEXT, SMALL_MOE),
    "qwen3-moe": ("Qwen3MoeForCausalLM", TEXT, SMALL_MOE | {"head_dim": 64}),
    "qwen3-moe-batched": ("Qwen3MoeForCausalLM", TEXT, SMALL_MOE | {"head_dim": 64, "experts_implementation": "batched_mm"}),
    "gpt-oss": ("GptOssForCausalLM", TEXT, LAYERS | {"num_local_experts": 8, "hidden_size": 512, "intermediate_size": 512}),
    "deepseek-v3": ("DeepseekV3ForCausalLM", TEXT, LAYERS | {"n_routed_experts": 8, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2, "hidden_size": 1024, "intermediate_size": 2048, "moe_intermediate_size": 512, "first_k_dense_replace": 1, "num_attention_heads": 16, "num_key_value_heads": 16}),
    "mamba": ("MambaForCausalLM", TEXT, LAYERS),
    "mamba2": ("Mamba2ForCausalLM", TEXT, LAYERS),
    "falcon-mamba": ("FalconMambaForCausalLM", TEXT, LAYERS),
    "rwkv": ("RwkvForCausalLM", TEXT, LAYERS | {"context_length": 128}),
    "recurrent-gemma": ("RecurrentGemmaForCausalLM", TEXT, {"num_hidden_layers": 3}),
    # encoder and decoder
    "t5": ("T5ForConditionalGeneration", SEQ2SEQ, {}),
    "bart": ("BartForConditionalGeneration", SEQ2SEQ, {}),
    "mbart": ("MBartForConditionalGeneration", SEQ2SEQ, {"encoder_layers": 2, "decoder_layers": 2}),
    "pegasus": ("PegasusForConditionalGeneration", SEQ2SEQ, {"encoder_layers": 2, "decoder_layers": 2}),
    "marian": ("MarianMTModel", SEQ2SEQ, {"encoder_layers": 2, "decoder_layers": 2}),
    "switch-transformers": ("SwitchTransformersForConditionalGeneration", (*SEQ2SEQ, ids("attention_mask"), ids("decoder_attention_mask", 32)), {"num_layers": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}),
    # sound
    "wav2vec2": ("Wav2Vec2ForCTC", (floats("input_values", 1, 16000),), {}),
    "hubert": ("HubertModel", (floats("input_values", 1, 16000),), {}),
    "wavlm": ("WavLMModel", (floats("input_values", 1, 16000),), {}),
    "whisper": ("WhisperForConditionalGeneration", (floats("input_features", 1, 80, 3000), ids("decoder_input_ids", 32)), {}),
    "audio-spectrogram": ("ASTForAudioClassification", (floats("input_values", 1, 1024, 128),), {}),
    "encodec": ("EncodecModel", (floats("input_values", 1, 1, 24000),), {}),
    # images
    "vit": ("ViTForImageClassification", (image(),), {}),
    "deit": ("DeiTForImageClassificationWithTeacher", (image(),), {}),
    "beit": ("BeitForImageClassification", (image(),), {}),
    "swin": ("SwinForImageClassification", (image(),), {}),
    "swinv2": ("Swinv2ForImageClassification", (image(256),), {"image_size": 256, "window_size": 8}),
    "convnext": ("ConvNextForImageClassification", (image(),), {}),
    "convnextv2": ("ConvNextV2ForImageClassification", (image(),), {}),
    "dinov2": ("Dinov2ForImageClassification", (image(),), {}),
    "dinov3": ("DINOv3ViTModel", (image(),), {}),
    "resnet": ("ResNetForImageClassification", (image(),), {}),
    "regnet": ("RegNetForImageClassification", (image(),), {}),
    "mobilevit": ("MobileViTForImageClassification", (image(256),), {}),
    "levit": ("LevitForImageClassification", (image(),), {}),
    "cvt": ("CvtForImageClassification", (image(),), {}),
    "pvt-v2": ("PvtV2ForImageClassification", (image(),), {}),
    "poolformer": ("PoolFormerForImageClassification", (image(),), {}),
    "segformer": ("SegformerForSemanticSegmentation", (image(512),), {}),
    "upernet-convnext": ("UperNetForSemanticSegmentation", (image(512),), {}),
    "dpt": ("DPTForDepthEstimation", (image(384),), {}),
    "glpn": ("GLPNForDepthEstimation", (image(480),), {}),
    "depth-anything": ("DepthAnythingForDepthEstimation", (image(518),), {}),
    "detr": ("DetrForObjectDetection", (image(512),), CONV_BACKBONE),
    "conditional-detr": ("ConditionalDetrForObjectDetection", (image(512),), CONV_BACKBONE),
    "deformable-detr": ("DeformableDetrForObjectDetection", (image(512),), CONV_BACKBONE),
    "rt-detr": ("RTDetrForObjectDetection", (image(640),), {}),
    "yolos": ("YolosForObjectDetection", (image(512),), {"image_size": [512, 512]}),
    "efficientnet": ("EfficientNetForImageClassification", (image(600),), {}),
    "sam": ("SamModel", (image(1024), floats("input_points", 1, 1, 1, 2)), {}),
    "videomae": ("VideoMAEForVideoClassification", (floats("pixel_values", 1, 16, 3, 224, 224),), {}),
    "timesformer": ("TimesformerForVideoClassification", (floats("pixel_values", 1, 8, 3, 224, 224),), {"num_hidden_layers": 4}),
    # several kinds of input
    "clip": ("CLIPModel", (ids(length=77), image()), {}),
    "siglip": ("SiglipModel", (ids(length=64), image()), {}),
    "blip": ("BlipForImageTextRetrieval", (ids(length=32), image(384)), {}),
    "owlvit": ("OwlViTForObjectDetection", (ids(length=16), image(768)), {}),
    "vilt": ("ViltModel", (ids(length=40), image(384)), {}),
    "layoutlm": ("LayoutLMForTokenClassification", (ids(), Input((1, LENGTH, 4), "int64", "bbox")), {}),
    "layoutlmv3": ("LayoutLMv3ForTokenClassification", (ids(), Input((1, LENGTH, 4), "int64", "bbox"), image()), {}),
    "clap": ("ClapModel", (ids(length=64), floats("input_features", 1, 1, 1001, 64)), {}),
    # series
    "patchtst": ("PatchTSTForPrediction", (floats("past_values", 1, 512, 7),), {"num_input_channels": 7, "context_length": 512, "patch_length": 16, "patch_stride": 16}),
    "decision-transformer": ("DecisionTransformerModel", (floats("states", 1, 20, 17), floats("actions", 1, 20, 4), floats("rewards", 1, 20, 1), floats("returns_to_go", 1, 20, 1), Input((1, 20), "int64", "timesteps"), Input((1, 20), "int64", "attention_mask")), {}),
}  # fmt: skip


def entries() -> list[Entry]:
    # TorchScript cannot compile transformers' models: they lack static types throughout.
    return [
        Entry("transformers", name, cls, options, inputs, forms=("pt2",))
        for name, (cls, inputs, options) in MODELS.items()
    ]
