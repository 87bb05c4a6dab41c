"""Identifies the inputs of a report other than the model's file: program, options, plugins and profiles, by content."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import Error, OutputError
from ..program import program_path, run
from .scratch import scratch

#: Plugins that read no elements of tensors. With any other plugin whole files are fetched.
_READ_HEADERS_ONLY = {
    f"org.tmeter.{name}"
    for name in (
        "activations architecture energy energy-advice flops fusion-advice language-model "
        "layout-advice memory parallelism-advice params roofline safetensors training "
        "vectorization-advice"
    ).split()
}
_LIBRARY = re.compile(r"^/.*\.tmeter$", re.MULTILINE)
_READ = 1 << 20


@dataclass(frozen=True)
class Identity:
    """Equal on all machines with the same tmeter.

    Attributes:
        text: version and arguments, without the names of files.
        files: folders of plugins and profiles, and files that options name. Their content matters, their names do not.
        reads_weights: whether a plugin reads elements of tensors.
        metrics: the reports' metrics, as far as they are known before the first report.
    """

    text: str
    files: tuple[str, ...]
    reads_weights: bool = True
    metrics: tuple[dict[str, Any], ...] = ()

    def fingerprint(self) -> str:
        """A fingerprint of the content on this machine. Files are examined every 2 ms at most."""
        global _last_listing
        if time.monotonic() - _last_listing[0] > _MOMENT or _last_listing[1] != self.files:
            _last_listing = time.monotonic(), self.files, _listed(self.files)
        return _fingerprint(self.text, _last_listing[2])


def identify(arguments: Sequence[str]) -> Identity:
    """Runs the program once, on a file of its own, with these arguments.

    Raises:
        UsageError, PluginError: an option, a plugin or a profile is invalid.
    """
    report = _probe(arguments)
    plugins = {plugin["id"] for plugin in report["plugins"]}
    found = [path for path in map(_library, sorted(plugins)) if path]
    folders = {os.path.dirname(path) for path in found} | set(_plugin_folders())
    data = {os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(f))), "share/tmeter/hardware") for f in folders}
    argument_files = [_file_in(argument) for argument in arguments]
    option_files = {f for f in argument_files if f}
    option_files |= {path for f in option_files if f.endswith(".toml") for path in _paths_in(f)} | set(_measured_profiles())
    files = sorted(folders | {d for d in data if os.path.isdir(d)} | option_files)
    words = [a if f is None else a.partition("=")[0] for a, f in zip(arguments, argument_files)]
    return Identity(
        "\0".join((__version__, *words)),
        tuple(files),
        not plugins <= _READ_HEADERS_ONLY,
        tuple(report["metrics"]),
    )


def _probe(arguments: Sequence[str]) -> dict[str, Any]:
    header = json.dumps({"a.weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    try:
        with scratch() as folder:
            model = folder / "probe.safetensors"
            model.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
            done = run([*arguments, "--report", "json", "--", str(model)], accept=(0, 5))
    except OSError as error:
        raise OutputError(
            f"the folder of temporary files cannot be written: {error.strerror or error}; "
            "TMPDIR names another one"
        ) from error
    report: dict[str, Any] = json.loads(done.output)
    return report


def _library(plugin: str) -> str | None:
    """The path at which the program found this plugin."""
    try:
        library = _LIBRARY.search(run(["plugin", "info", plugin.rpartition(".")[2]]).output)
    except Error:
        return None
    return library[0] if library else None


def _plugin_folders() -> list[str]:
    """The search path of core/plugin_host/registry.cpp."""
    folders = [f for f in os.environ.get("TMETER_PLUGIN_PATH", "").split(":") if f]
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    folders.append(os.path.join(data, "tmeter/plugins"))
    own = program_path().resolve().parent.parent / "lib/tmeter/plugins"
    return [*folders, str(own)] if own.is_dir() else folders


def _measured_profiles() -> list[str]:
    """The profile of ``--hardware auto``."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [os.path.join(cache, "tmeter/hardware.toml")]


def _file_in(argument: str) -> str | None:
    """The file that an option names, as in ``--hardware=my.toml``."""
    value = argument.partition("=")[2] if argument.startswith("--") else argument
    for path in (value, value.partition("=")[2]):
        if path and os.path.isfile(path):
            return os.path.abspath(path)
    return None


def _paths_in(file: str) -> list[str]:
    """Files and folders that a configuration names: profiles, folders of plugins."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            quoted = re.findall(r"\"([^\"\n]+)\"|'([^'\n]+)'", opened.read(_READ))
    except OSError:
        return []
    paths = {os.path.abspath(text) for pair in quoted for text in pair if "/" in text or ".toml" in text}
    return [path for path in paths if os.path.exists(path)]


_Listed = tuple[tuple[str, int, int, int], ...]


def _listed(files: Iterable[str]) -> _Listed:
    """Every file with size, time and inode. The content is read again after these have changed."""
    found: list[tuple[str, int, int, int]] = []
    for path in files:
        try:
            if os.path.isdir(path):
                with os.scandir(path) as entries:
                    for entry in sorted(entries, key=lambda e: e.name):
                        facts = entry.stat()
                        found.append((entry.path, facts.st_size, facts.st_mtime_ns, facts.st_ino))
            else:
                facts = os.stat(path)
                found.append((path, facts.st_size, facts.st_mtime_ns, facts.st_ino))
        except OSError:
            continue  # a missing file has no entry
    return tuple(found)


_MOMENT = 0.002
_last_listing: tuple[float, tuple[str, ...], _Listed] = (0.0, (), ())
_last_fingerprint: tuple[str, _Listed, str] | None = None


def _fingerprint(text: str, listed: _Listed) -> str:
    """The last digest is kept, because it is needed before and after every file."""
    global _last_fingerprint
    if _last_fingerprint is None or _last_fingerprint[:2] != (text, listed):
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
        for content in sorted({_digest(entry) for entry in listed}):
            digest.update(content)
        _last_fingerprint = text, listed, digest.hexdigest()[:16]
    return _last_fingerprint[2]


_digests: dict[tuple[str, int, int, int], bytes] = {}


def _digest(entry: tuple[str, int, int, int]) -> bytes:
    if entry not in _digests:
        digest = hashlib.sha256()
        try:
            with open(entry[0], "rb") as file:
                while content := file.read(_READ):
                    digest.update(content)
        except OSError:
            digest.update(b"unreadable")
        # The name of a profile matters, too, but its folder does not.
        _digests[entry] = Path(entry[0]).name.encode("utf-8", "surrogateescape") + digest.digest()
    return _digests[entry]
