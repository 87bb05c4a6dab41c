"""Translates the program's messages for callers in Python (``--inference`` → ``inference=True``), and makes untrusted
text visible."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Options of the command line → keyword arguments of `tmeter.analyze`.
_KEYWORDS = {
    "--bind": "bind=",
    "--device": "device=",
    "--full": "full=True",
    "--hardware": "hardware=",
    "--inference": "inference=True",
    "--input": "inputs=",
    "--max-memory": "max_memory=",
    "--plugins": "plugins=",
    "--profile": "profile=True",
    "--root": "root=",
    "--run-for": "run_for=",
    "--seed": "seed=",
    "--set": "options=",
    "--threads": "threads=",
    "--timeout": "timeout=",
    "--trust": "trust=True",
}
# Not inside a longer option or path: --input-file, docs/--set.
_OPTION = re.compile(r"(?<![\w/-])(--[a-z]+(?:-[a-z]+)*)(?![\w-])(=?)")

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def visible(text: object) -> str:
    """Spells out characters that control a terminal, reverse text or hide it, and bytes that are not UTF-8."""
    return _UNSEEN.sub(lambda m: f"\\u{ord(m.group()):04x}", str(text))


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Such as " (did you mean 'macs'?)"; empty: no name is similar."""
    import difflib

    candidates, text = list(names), str(name)
    near = difflib.get_close_matches(text, candidates, 1) or difflib.get_close_matches(text.lower(), candidates, 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def counted(count: int, noun: str) -> str:
    """``1 model``, ``2,000 models``"""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def in_python(message: str) -> str:
    """The message with keyword arguments in place of options."""
    message = re.sub(r"--root (?=\S)", "root=", message)  # always given with a value
    return _OPTION.sub(lambda m: _KEYWORDS.get(m[1], m[1] + m[2]), message)
