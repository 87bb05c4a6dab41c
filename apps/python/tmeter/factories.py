"""Models by name, built without weights."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from .errors import InputError, UsageError
from .specs import Shape


def build(name: str) -> tuple[torch.nn.Module, Any]:
    """The model on meta (on the CPU where its code reads values), and its inputs if known.

    Raises:
        UsageError: no such library, model or factory.
    """
    library, colon, model = name.partition(":")
    if not colon or not library or not model:
        raise UsageError(
            f"{name!r}: LIBRARY:NAME is expected, as in timm:resnet50, torchvision:resnet50, "
            "hf:DIR or package.module:factory"
        )
    return _BUILDERS.get(library, _from_module(library))(model)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} cannot be imported: {error}") from error


def _without_weights(make: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    try:
        with torch.device("meta"):
            return make()
    except (UsageError, InputError):
        raise
    except Exception:  # some models read values while they are built (rates, anchors)
        return make()


def _timm(name: str) -> tuple[torch.nn.Module, Any]:
    timm = _imported("timm")
    if not timm.is_model(name):
        raise UsageError(f"timm has no model {name!r}; timm.list_models() lists them")
    return _without_weights(lambda: timm.create_model(name, pretrained=False)), None


def _torchvision(name: str) -> tuple[torch.nn.Module, Any]:
    models = _imported("torchvision.models")
    if name not in models.list_models():
        raise UsageError(f"torchvision has no model {name!r}; torchvision.models.list_models() lists them")
    backbone = {"weights_backbone": None} if _has_backbone(models, name) else {}
    model = _without_weights(lambda: models.get_model(name, weights=None, **backbone))
    return model, _torchvision_inputs(models, name)


def _has_backbone(models: Any, name: str) -> bool:
    home = models.get_model_builder(name).__module__
    return ".detection" in home or ".segmentation" in home


def _torchvision_inputs(models: Any, name: str) -> Any:
    home = models.get_model_builder(name).__module__
    if ".detection" in home:
        return ([Shape((3, 800, 800))],)
    if ".optical_flow" in home:
        return (Shape((1, 3, 520, 960)), Shape((1, 3, 520, 960)))
    transforms = models.get_model_weights(name).DEFAULT.transforms
    keywords = getattr(transforms, "keywords", {})
    size = keywords.get("crop_size") or keywords.get("resize_size") or 224
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    frames = (16,) if ".video" in home else ()
    return (Shape((1, 3, *frames, int(height), int(width))),)


def _hf(name: str) -> tuple[torch.nn.Module, Any]:
    transformers = _imported("transformers")
    path = Path(name)
    folder = path.parent if path.is_file() else path
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder) if path.exists() else name)
    except (OSError, ValueError) as error:
        raise UsageError(f"hf:{name}: {str(error).splitlines()[0]}") from error
    names = getattr(config, "architectures", None) or []
    found = getattr(transformers, names[0], None) if names else None
    if found is not None:
        return _without_weights(lambda: found(config)), None
    return _without_weights(lambda: transformers.AutoModel.from_config(config)), None


def _from_module(module: str) -> Callable[[str], tuple[torch.nn.Module, Any]]:
    def make(factory: str) -> tuple[torch.nn.Module, Any]:
        if "" not in sys.path and "." not in sys.path:
            sys.path.insert(0, "")
        function: Any = _imported(module)
        for part in factory.split("."):
            if not hasattr(function, part):
                raise UsageError(f"{module} has no {factory}")
            function = getattr(function, part)
        made = function() if callable(function) and not _is_model(function) else function
        if not _is_model(made):
            raise UsageError(f"{module}:{factory} returns a value of type {type(made).__name__}, not a Module")
        return made, getattr(made, "example_inputs", None)

    return make


def _is_model(value: Any) -> bool:
    return isinstance(value, torch.nn.Module)


_BUILDERS = {"timm": _timm, "torchvision": _torchvision, "hf": _hf}
