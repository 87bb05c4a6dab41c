"""Live modules: values equal FlopCounterMode's, the module stays unchanged, pitfalls are handled."""

import concurrent.futures
import copy
import random
import tempfile
import threading
import zipfile
from pathlib import Path

import diffusers
import pytest
import timm
import torch
import torch_geometric
import torch_geometric.nn
import torchvision
import transformers
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import tmeter

LLAMA = dict(
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    vocab_size=1000,
)
BERT = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)


def on_meta(build):
    with torch.device("meta"):
        return build()


def reference(model, *args, **kwargs):
    """FLOPs and parameters of a copy: on meta if the model is on meta, else in a real run."""
    model = copy.deepcopy(model).eval()
    device = next(model.parameters()).device
    with FlopCounterMode(display=False) as counter:
        model(*(x.to(device) for x in args), **{k: v.to(device) for k, v in kwargs.items()})
    return counter.get_total_flops(), sum(p.numel() for p in model.parameters())


def ids(*sizes):
    return torch.zeros(sizes, dtype=torch.int64)


MODELS = {
    "resnet50": (lambda: torchvision.models.resnet50(weights=None), (torch.zeros(1, 3, 224, 224),), {}),
    "timm vit": (lambda: timm.create_model("vit_tiny_patch16_224"), (torch.zeros(1, 3, 224, 224),), {}),
    "llama": (
        lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA)),
        (),
        {"input_ids": ids(1, 128)},
    ),
    "bert": (
        lambda: transformers.BertModel(transformers.BertConfig(**BERT)),
        (),
        {"input_ids": ids(2, 16), "attention_mask": ids(2, 16) + 1},
    ),
    "t5": (
        lambda: transformers.T5ForConditionalGeneration(
            transformers.T5Config(d_model=64, d_ff=128, num_layers=2, num_heads=4, d_kv=16)
        ),
        (),
        {"input_ids": ids(1, 16), "decoder_input_ids": ids(1, 8)},
    ),
    "lstm": (lambda: nn.LSTM(16, 32, 2, batch_first=True), (torch.zeros(1, 10, 16),), {}),
    "diffusers unet": (
        lambda: diffusers.UNet2DConditionModel(
            block_out_channels=(16, 32),
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
            layers_per_block=1,
            cross_attention_dim=32,
            attention_head_dim=4,
            norm_num_groups=4,
        ),
        (),
        {
            "sample": torch.zeros(1, 4, 16, 16),
            "timestep": torch.tensor(3),
            "encoder_hidden_states": torch.zeros(1, 7, 32),
        },
    ),
    "wav2vec2": (
        lambda: transformers.Wav2Vec2ForCTC(
            transformers.Wav2Vec2Config(**BERT, conv_dim=(32,) * 7, num_conv_pos_embeddings=16)
        ),
        (),
        {"input_values": torch.zeros(1, 8000)},
    ),
    "whisper": (
        lambda: transformers.WhisperForConditionalGeneration(
            transformers.WhisperConfig(
                d_model=32,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                encoder_ffn_dim=64,
                decoder_ffn_dim=64,
                max_source_positions=100,
                vocab_size=1000,
                pad_token_id=0,
            )
        ),
        (),
        {"input_features": torch.zeros(1, 80, 200), "decoder_input_ids": ids(1, 8)},
    ),
    "graph attention": (
        lambda: torch_geometric.nn.GAT(16, 32, 2, 7),
        (torch.zeros(50, 16), torch.arange(100).reshape(2, 50) % 50),
        {},
    ),
    "encoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2),
        (torch.zeros(1, 10, 64),),
        {},
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_equal_the_reference(name):
    build, args, kwargs = MODELS[name]
    model = build()
    result = tmeter.analyze(model, inputs=args or kwargs)
    flops, params = reference(model, *args, **kwargs)
    if name != "lstm":  # FlopCounterMode has no rule for a fused LSTM on meta: test_lstm
        assert result.total("flops") == flops
    assert result.total("params") == params
    assert result.coverage["unknown"] == 0
    paths = {path for path, _ in model.named_modules()}
    assert set(result.modules.index) <= paths


@pytest.mark.parametrize("experts", ["grouped_mm", "batched_mm", "eager"])
def test_a_mixture_of_experts(experts):
    """FlopCounterMode counts nothing inside ``transformers::grouped_mm_fallback``, the default on a CPU: 6,225,920 FLOPs. With
    one expert after another (eager) it counts what tmeter counts in both cases."""
    config = dict(LLAMA, num_local_experts=4, num_experts_per_tok=2)

    def build(kind):
        return transformers.MixtralForCausalLM(
            transformers.MixtralConfig(**config, experts_implementation=kind)
        )

    # By hand: 32 tokens, 2 experts each: gate and up 64 × 256, down 128 × 64; 2 layers, 2 per MAC.
    by_hand = 32 * 2 * (64 * 256 + 128 * 64) * 2 * 2
    flops, params = reference(build("eager"), input_ids=ids(1, 32))
    assert flops - 6_225_920 == by_hand
    model = build(experts)
    result = tmeter.analyze(model, inputs={"input_ids": ids(1, 32)})
    assert (result.total("flops"), result.total("params")) == (flops, params)
    assert model.config._experts_implementation == experts
    assert ("exported as 'grouped_mm'" in str(result.export.notes)) == (experts == "eager")


def test_a_mixture_with_a_product_of_its_own():
    """JetMoE has transformers' setting but ignores it."""
    config = transformers.JetMoeConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=1, num_key_value_heads=2, kv_channels=8, intermediate_size=16,
        num_local_experts=2, num_experts_per_tok=1, experts_implementation="eager",
    )  # fmt: skip
    result = tmeter.analyze(transformers.JetMoeModel(config), inputs={"input_ids": ids(1, 8)})
    assert not any("grouped_mm" in note for note in result.export.notes)


def test_lstm():
    # Two layers, 10 steps: 4 gates of 32, of 16 + 32 and of 32 + 32 inputs.
    result = tmeter.analyze(nn.LSTM(16, 32, 2, batch_first=True), inputs=(1, 10, 16))
    assert result.total("macs") == 10 * 4 * 32 * ((16 + 32) + (32 + 32))


def test_a_large_model_without_memory():
    """Llama 2 7B: 6,738,415,616 parameters, like Meta's checkpoint. On meta: 27 GB less."""
    model = on_meta(lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(num_hidden_layers=32)))
    result = tmeter.analyze(model)
    assert result.total("params") == 6_738_415_616
    flops, _ = reference(model, input_ids=ids(1, 128))
    assert result.total("flops") == flops
    assert all(p.is_meta for p in model.parameters())
    assert "use_cache was switched off" in result.export.notes


def state_of(model):
    tensors = [*model.parameters(), *model.buffers()]
    return (
        [(id(t), t.data_ptr(), t._version, t.requires_grad, t.grad) for t in tensors],
        [t.clone() for t in tensors],
        [m.training for m in model.modules()],
        [list(m._forward_hooks.items()) for m in model.modules()],
        [sorted(vars(m)) for m in model.modules()],
    )


def same(a, b):
    return (
        a[0] == b[0]
        and all(torch.equal(x, y) for x, y in zip(a[1], b[1]))
        and a[2:] == b[2:]
    )


def test_the_module_stays_unchanged():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)
            self.norm = nn.BatchNorm2d(8)
            self.drop = nn.Dropout()
            self.register_buffer("calls", torch.zeros(()))
            self.seen = []

        def forward(self, x):
            self.calls += 1
            self.seen.append(1)
            return self.drop(self.norm(self.conv(x)))

    model = Net()
    model.norm.eval()
    shapes = []
    model.conv.register_forward_hook(lambda m, i, o: shapes.append(o.shape))
    before, torch_state, python_state = state_of(model), torch.get_rng_state(), random.getstate()
    result = tmeter.analyze(model, inputs=(3, 16, 16))
    assert result.total("macs") == 8 * 27 * 14 * 14
    assert same(before, state_of(model))
    assert model.training and not model.norm.training
    assert shapes == [] and model.seen == []
    assert torch.equal(torch_state, torch.get_rng_state()) and python_state == random.getstate()
    assert any("hooks" in note for note in result.export.notes)


def test_config_of_transformers_stays_unchanged():
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA))
    tmeter.analyze(model)
    assert model.config.use_cache is True
    assert "past_key_values" in model(input_ids=ids(1, 4)).keys()


def size_of_export(model, weights):
    from tmeter.export import export_and_use

    with tempfile.TemporaryDirectory() as folder:
        use = lambda exported: exported.path.stat().st_size  # noqa: E731
        return export_and_use(model, (1, 512), Path(folder), use, weights=weights)[0]


def test_weights_are_not_copied_unless_a_plugin_reads_them():
    model = nn.Sequential(nn.Linear(512, 512), nn.Linear(512, 512))
    assert size_of_export(model, weights=False) < 100_000 < 2_000_000 < size_of_export(model, weights=True)
    with torch.no_grad():
        model[0].weight.fill_(3.0)
    result = tmeter.analyze(model, inputs=(1, 512), plugins=["flops", "param-stats"])
    assert result.tensors.loc["0.weight", "mean"] == 3.0
    deviation = model[1].weight.double().std(correction=0).item()
    assert result.tensors.loc["1.weight", "std"] == pytest.approx(deviation, rel=1e-3)


def test_saving_without_torch_s_self_test_writes_the_same(tmp_path):
    """torch.export.save discards its canonical form; the contents of the file are the same without it."""
    from torch._export.serde import serialize
    from tmeter.export.saving import save_program

    def saved(save, name):
        program = torch.export.export(nn.Sequential(nn.Linear(4, 8), nn.ReLU()), (torch.zeros(2, 4),))
        save(program, tmp_path / name)
        with zipfile.ZipFile(tmp_path / name) as archive:
            (model,) = [n for n in archive.namelist() if n.endswith("models/model.json")]
            return archive.read(model)

    def as_torch_does(program, path):
        program._example_inputs = None
        torch.export.save(program, path)

    canonicalize = serialize.canonicalize
    assert saved(lambda p, f: save_program(p, f, None, ""), "a.pt2") == saved(as_torch_does, "b.pt2")
    assert serialize.canonicalize is canonicalize


def test_quantization_advice_of_a_live_module():
    result = tmeter.analyze(nn.Linear(256, 256), inputs=(1, 256), plugins="quantization-advice")
    assert len(result.findings) > 0


def test_tied_weights_count_once():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(100, 16)
            self.head = nn.Linear(16, 100, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, x):
            return self.head(self.embed(x))

    result = tmeter.analyze(Tied(), inputs=(1, 8))  # the first layer is an embedding: int64
    assert result.total("params") == 1600 and result.total("macs") == 8 * 16 * 100


def test_an_open_batch_size():
    result = tmeter.analyze(nn.Linear(4, 8), inputs=(6, 4), dynamic_batch=True)
    assert "open batch" in result.export.way
    assert result.total("macs") == 6 * 4 * 8
    assert "32·" in next(f["text"] for f in result.to_dict()["formulas"] if f["metric"] == "macs")
    bound = tmeter.analyze(nn.Linear(4, 8), inputs=(6, 4), bind={"input.0": 10})
    assert bound.total("macs") == 10 * 4 * 8
    fixed = tmeter.analyze(nn.Linear(4, 8), inputs=(6, 4), dynamic_batch=False)
    assert "open batch" not in fixed.export.way
    with pytest.raises(tmeter.InputError, match="two or more"):
        tmeter.analyze(nn.Linear(4, 8), inputs=(1, 4), dynamic_batch=True)


FORMS = {
    "tensor": torch.zeros(1, 3, 32, 32),
    "shape": (1, 3, 32, 32),
    "image": (3, 32, 32),
    "torch.Size": torch.Size((1, 3, 32, 32)),
    "text": "1x3x32x32",
    "dict": {"input": (1, 3, 32, 32)},
    "tuple": (torch.zeros(1, 3, 32, 32),),
    "array": torch.zeros(1, 3, 32, 32).numpy(),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_inputs(form):
    result = tmeter.analyze(nn.Conv2d(3, 4, 3), inputs=FORMS[form])
    assert result.total("macs") == 4 * 27 * 30 * 30


def test_a_batch_is_put_in_front_where_the_first_layer_has_images():
    """A vision transformer's class token is a parameter before its first layer."""
    model = timm.create_model("vit_tiny_patch16_224")
    flops, params = reference(model, torch.zeros(1, 3, 224, 224))
    result = tmeter.analyze(model, inputs=(3, 224, 224))
    assert (result.total("flops"), result.total("params")) == (flops, params)
    parametrized = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 8, 3)), nn.Flatten())
    assert tmeter.analyze(parametrized, inputs=(3, 8, 8)).total("macs") == 8 * 27 * 36


def test_inputs_of_the_configuration():
    assert tmeter.analyze(timm.create_model("resnet18")).to_dict()["inputs"][0]["shape"] == [1, 3, 224, 224]
    vit = transformers.ViTConfig(hidden_size=64, num_hidden_layers=1, num_attention_heads=2)
    found = tmeter.analyze(transformers.ViTModel(vit)).to_dict()["inputs"][0]
    assert (found["name"], found["shape"]) == ("pixel_values", [1, 3, 224, 224])


class Branches(nn.Module):
    """Branches on data: torch.export refuses, and a trace follows the branch for zeros."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(4, 16)

    def forward(self, x):
        if x.sum() > 0:
            return self.a(x)
        return self.b(x)


@pytest.mark.parametrize("batch", [1, 8])
def test_a_batch_takes_the_quick_way_unless_its_size_is_left_open(batch):
    """torch.export with an open size takes ten times as long."""
    result = tmeter.analyze(nn.Linear(4, 8), inputs=(batch, 4))
    assert result.export.way == "dispatch on fake tensors" and not result.export.failed
    assert result.macs == batch * 4 * 8


def test_a_model_that_cannot_be_exported_is_traced_with_a_note():
    result = tmeter.analyze(Branches(), inputs=(1, 4))
    assert result.export.way == "torch.jit.trace"
    assert result.total("macs") == 4 * 16
    assert any(way.startswith("torch.export") for way, _ in result.export.failed)
    assert "not by torch.export" in str(result.export) and "not by torch.export" not in str(result)


def test_detection():
    """Boxes depend on data: neither export nor trace works. TorchScript's program covers most of the model."""
    model = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None)
    result = tmeter.analyze(model, inputs=([(3, 320, 320)],))
    assert result.total("params") == sum(p.numel() for p in model.parameters())
    # torchvision documents 0.583 GMACs for these weights.
    assert result.total("macs") / 1e9 == pytest.approx(0.583, rel=0.01)


def test_a_model_that_no_way_exports(capfd):
    class Hopeless(nn.Module):
        def forward(self, x):
            y = x.numpy().sum()
            return torch.zeros(int(x.tolist()[0][0]) + int(y)).reshape(-1, 7)[3]

    with pytest.raises(tmeter.Error) as failure:
        tmeter.analyze(Hopeless(), inputs=(2, 3))
    assert isinstance(failure.value, (tmeter.ExportError, tmeter.InputError))
    message = str(failure.value)
    assert "Hopeless" in message
    assert "def forward" not in capfd.readouterr().err


class Locked(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.lock = threading.Lock()


WRONG = [
    (lambda: nn.Linear(3, 4), None, tmeter.InputError, "give inputs="),
    (lambda: nn.Linear(3, 4), (1, 5), tmeter.InputError, "does not run on these inputs"),
    (lambda: nn.Linear(3, 4), {"x": (1, 3)}, tmeter.InputError, "cannot be called"),
    (lambda: nn.Linear(3, 4), ((1, 3), (1, 3)), tmeter.InputError, "too many positional"),
    (lambda: nn.Linear(3, 4), (x for x in [1]), tmeter.InputError, "generator"),
    (lambda: nn.Linear(3, 4), "1x3:f31", tmeter.InputError, "unknown dtype"),
    (lambda: nn.Linear(3, 4), (-1, 3), tmeter.InputError, "negative"),
    (lambda: nn.Linear(3, 4), (2**62, 2**62), tmeter.Error, "4611686018427387904"),
    (lambda: object(), (1,), tmeter.InputError, "object"),
    (lambda: nn.Linear, (1, 3), tmeter.InputError, "instance"),
    (Locked, (1, 2), tmeter.ExportError, "cannot be copied"),
]


@pytest.mark.parametrize("build, inputs, kind, message", WRONG, ids=[w[3] for w in WRONG])
def test_wrong_input(build, inputs, kind, message):
    with pytest.raises(kind, match=message):
        tmeter.analyze(build(), inputs=inputs)


def test_weights_that_are_not_in_memory():
    with pytest.raises(tmeter.ExportError, match="not in memory"):
        tmeter.analyze(on_meta(lambda: nn.Linear(3, 4)), inputs=(1, 3), plugins="param-stats")


def test_wrappers_are_unwrapped():
    inner = nn.Linear(3, 4)
    for wrapped in (torch.compile(inner), nn.DataParallel(inner)):
        result = tmeter.analyze(wrapped, inputs=(1, 3))
        assert result.total("params") == 16 and "0" not in result.modules.index
        assert "inside" in result.export.notes[0]


def test_offloaded_by_accelerate():
    """Marks that accelerate leaves on a module: a hook object, and a forward that fetches weights."""
    model = on_meta(lambda: nn.Linear(3, 4))
    model._hf_hook = object()
    model._old_forward = model.forward

    def forward(*args):
        raise AssertionError("weights would be fetched")

    model.forward = forward
    assert tmeter.analyze(model, inputs=((1, 3),)).total("macs") == 12


def test_exported_programs_and_scripts():
    program = torch.export.export(nn.Linear(3, 4), (torch.zeros(2, 3),))
    assert tmeter.analyze(program).total("macs") == 24
    script = torch.jit.script(nn.Linear(3, 4))
    assert tmeter.analyze(script, inputs="2x3").total("macs") == 24


def test_dynamic_quantization():
    with torch.no_grad():
        quantized = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 16)), {nn.Linear})
    result = tmeter.analyze(quantized, inputs=(1, 8))
    assert result.total("macs") == 128


def test_other_devices_need_not_exist():
    """Weights of one element on the CPU that declare another device would need a GPU, so the test uses meta."""
    result = tmeter.analyze(on_meta(lambda: nn.Conv2d(3, 4, 3)), inputs=torch.zeros(1, 3, 8, 8))
    assert result.total("macs") == 4 * 27 * 36


def test_several_threads_at_once():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: tmeter.analyze(model, inputs=(n, 4)).total("macs"), range(1, 7)))
    assert found == [n * 48 for n in range(1, 7)]


def test_a_message_passing_network():
    """A graph convolution as in libraries: gather, linear, scatter."""

    class GraphConv(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 7)

        def spread(self, x, edges):
            return torch.zeros_like(x).index_add(0, edges[1], x[edges[0]])

        def forward(self, x, edges):
            return self.second(self.spread(self.first(x).relu(), edges))

    result = tmeter.analyze(GraphConv(), inputs=("50x16", "2x200:i64"))
    assert result.total("macs") == 50 * (16 * 32 + 32 * 7)
    assert result.coverage["unknown"] == 0
