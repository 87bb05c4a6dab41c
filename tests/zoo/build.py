"""Makes a model of the table and its inputs on the caller's device."""

import sys
from pathlib import Path

import torch

from table import Entry, Input

sys.path.insert(0, str(Path(__file__).parents[1] / "fixtures"))
from forms import expand_from_one_element, one_element  # noqa: E402


def build(entry: Entry, device: str, scriptable: bool = False) -> torch.nn.Module:
    """The model in eval mode. A device with data gets random weights from a fixed seed."""
    torch.manual_seed(0)
    with torch.device(device):
        model = BUILDERS[entry.library](entry, scriptable)
    return model.eval()


def build_on_meta(entry: Entry) -> torch.nn.Module:
    """Models that read values while they are built (a width, a rate) are built on the CPU, then moved."""
    try:
        return build(entry, "meta")
    except Exception:
        return moved_to_meta(build(entry, "cpu"))


def moved_to_meta(model: torch.nn.Module) -> torch.nn.Module:
    """Replaces ``model.to("meta")``, which would untie tied parameters."""
    moved = {}

    def replacement(old):
        if id(old) not in moved:
            moved[id(old)] = torch.empty_like(old, device="meta")
            if isinstance(old, torch.nn.Parameter):
                moved[id(old)] = torch.nn.Parameter(moved[id(old)], requires_grad=old.requires_grad)
        return moved[id(old)]

    tables = [t for m in model.modules() for t in (m._parameters, m._buffers)]
    kept = [t for table in tables for t in table.values()]  # kept alive, because their ids are the keys
    for table in tables:
        for name, old in table.items():
            if old is not None:
                table[name] = replacement(old)
    del kept
    return model


def from_torchvision(entry: Entry, scriptable: bool) -> torch.nn.Module:
    import torchvision

    backbone = {"weights_backbone": None} if entry.group in ("detection", "segmentation") else {}
    return torchvision.models.get_model(entry.builder, weights=None, **backbone, **entry.options)


def from_timm(entry: Entry, scriptable: bool) -> torch.nn.Module:
    import timm

    return timm.create_model(entry.builder, pretrained=False, scriptable=scriptable, **entry.options)


class TensorsOnly(torch.nn.Module):
    """Takes tensors in the table's order and returns all tensors of the result."""

    def __init__(self, model: torch.nn.Module, names: tuple[str, ...]):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *tensors):
        out = self.model(**dict(zip(self.names, tensors)))
        leaves = torch.utils._pytree.tree_leaves(tuple(out.to_tuple() if hasattr(out, "to_tuple") else out))
        return tuple(x for x in leaves if isinstance(x, torch.Tensor))


def from_transformers(entry: Entry, scriptable: bool) -> torch.nn.Module:
    import transformers

    cls = getattr(transformers, entry.builder)
    options = dict(entry.options)
    experts = options.pop("experts_implementation", None)
    config = cls.config_class(**options)
    for part in [config, *(getattr(config, k) for k in getattr(config, "sub_configs", {}))]:
        if part is not None:
            part.use_cache = False
    if experts:
        config._experts_implementation = experts
    return TensorsOnly(cls(config), tuple(i.name for i in entry.inputs))


BUILDERS = {"torchvision": from_torchvision, "timm": from_timm, "transformers": from_transformers}


def inputs_of(entry: Entry, model: torch.nn.Module) -> tuple[Input, ...]:
    if entry.inputs:
        return entry.inputs
    channels, height, width = model.default_cfg["input_size"]
    return (Input((1, channels, height, width)),)


def arguments(inputs: tuple[Input, ...], device: str) -> tuple:
    """Zeros for indices, noise for the rest: a detector finds nothing in zeros."""

    def tensor(x: Input):
        dtype = getattr(torch, x.dtype)
        made = (torch.rand if dtype.is_floating_point else torch.zeros)(x.shape, dtype=dtype, device=device)
        return [made] if x.listed else made

    torch.manual_seed(1)
    return tuple(tensor(x) for x in inputs)


def has_ties(model: torch.nn.Module) -> bool:
    names = sum(1 for _ in model.named_parameters(remove_duplicate=False))
    return names > sum(1 for _ in model.parameters())


def weightless(entry: Entry, scriptable: bool = False) -> tuple[torch.nn.Module, tuple, str]:
    """A model with full shapes and no weights: on meta where possible, else with one element per tensor.

    On meta all parameters of a file share one empty record, so ties would be lost. Also, tensors that a
    detector computes while it is built (anchors) must have values.
    """
    if not entry.on_cpu:
        try:
            model = build(entry, "meta", scriptable)
            if has_ties(model):
                expand_from_one_element(model)
                return model, one_elements(inputs_of(entry, model)), "one element"
            if not leftovers(model):
                return model, arguments(inputs_of(entry, model), "meta"), "meta"
        except Exception as error:
            print(f"not on meta: {type(error).__name__}: {error}", flush=True)
    model = build(entry, "cpu", scriptable)
    expand_from_one_element(model)
    return model, one_elements(inputs_of(entry, model)), "one element"


def leftovers(model: torch.nn.Module) -> bool:
    """Whether the model's code has explicitly put tensors on another device than meta."""
    return any(not t.is_meta for t in (*model.parameters(), *model.buffers()))


def one_elements(inputs: tuple[Input, ...]) -> tuple:
    made = [one_element(torch.empty(x.shape, dtype=getattr(torch, x.dtype), device="meta")) for x in inputs]
    return tuple([t] if x.listed else t for t, x in zip(made, inputs))
