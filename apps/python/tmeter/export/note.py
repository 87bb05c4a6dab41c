"""The file's statement of how it was exported: lines that the native program reads from the archive and
shows in every report (core/plugin_host/export_note.hpp)."""

from __future__ import annotations

from collections.abc import Sequence

#: The place in the archive where torch.export.save and torch.jit.save put extra files.
NAME = "tmeter-export"
NOTE = f"extra/{NAME}"

#: The blind spots of each way of exporting, by the start of its name.
_BLIND = {
    "dispatch on fake tensors, on these inputs and weights": "sees one call on these inputs and weights",
    "dispatch on fake tensors, on these inputs": "sees one call on these inputs",
    "dispatch on fake tensors": "sees one call at these sizes",
    "torch.export": "sees one call, as the model is when it is exported",
    "torch.jit.trace": "sees the branches and loops of one run",
    "torch.jit.script": "sees the program, but no data",
}


def blind_spot(way: str) -> str:
    return next((text for name, text in _BLIND.items() if way.startswith(name)), "")


def note_of(way: str, assumed: Sequence[str] = ()) -> str:
    spot = blind_spot(way)
    lines = [f"way {way}" + (f", which {spot}" if spot else "")]
    lines += [f"assumed {_line(text)}" for text in assumed]
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())
