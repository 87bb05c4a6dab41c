"""Inputs from the configuration of a timm or transformers model."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..errors import InputError
from ..specs import Shape

_TOKENS = 128
_SAMPLES = 16_000  # one second of speech


def inputs_of_configuration(model: nn.Module) -> Any:
    """Raises InputError if the model has no such configuration."""
    found = _of_timm(model) or _of_transformers(model)
    if found is None:
        raise InputError(
            f"{type(model).__name__} does not define its inputs; give inputs=, such as "
            "inputs=(3, 224, 224) or inputs={'x': torch.zeros(1, 8)}"
        )
    return found


def _of_timm(model: nn.Module) -> Any:
    config: Any = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None)
    size = config.get("input_size") if hasattr(config, "get") else None
    return (Shape((1, *map(int, size))),) if size else None


def _first(config: Any, *names: str) -> Any:
    for name in names:
        value = getattr(config, name, None)
        if value is not None:
            return value
    return None


def _of_transformers(model: nn.Module) -> dict[str, Shape] | None:
    config = getattr(model, "config", None)
    if config is None or not hasattr(config, "model_type"):
        return None
    main = getattr(model, "main_input_name", "input_ids")
    make = _BY_MAIN_INPUT.get(main)
    if make is None:
        return None
    inputs = make(config)
    if getattr(config, "model_type", "") == "clip":
        inputs = _tokens(getattr(config, "text_config", config)) | _pixels(
            getattr(config, "vision_config", config)
        )
    elif getattr(config, "is_encoder_decoder", False):
        inputs["decoder_input_ids"] = Shape((1, _length(config)), "int64")
    return inputs


def _length(config: Any) -> int:
    limit = _first(config, "max_position_embeddings", "n_positions", "max_target_positions")
    # RoBERTa's position table has two more entries than the longest input has tokens.
    return min(_TOKENS, max(1, limit - 2)) if isinstance(limit, int) and limit > 0 else _TOKENS


def _tokens(config: Any) -> dict[str, Shape]:
    return {"input_ids": Shape((1, _length(config)), "int64")}


def _pixels(config: Any) -> dict[str, Shape]:
    vision = _first(config, "vision_config") or config
    size = _first(vision, "image_size") or 224
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    channels = _first(vision, "num_channels") or 3
    return {"pixel_values": Shape((1, channels, height, width))}


def _samples(config: Any) -> dict[str, Shape]:
    return {"input_values": Shape((1, _SAMPLES))}


def _mel_frames(config: Any) -> dict[str, Shape]:
    bins = _first(config, "num_mel_bins") or 80
    frames = 2 * (_first(config, "max_source_positions") or 1500)
    return {"input_features": Shape((1, bins, frames))}


_BY_MAIN_INPUT = {
    "input_ids": _tokens,
    "pixel_values": _pixels,
    "input_values": _samples,
    "input_features": _mel_frames,
}
