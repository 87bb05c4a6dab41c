#!/usr/bin/env python3
"""Which folder may include what: the right-hand column of docs/architecture.md, enforced.

Usage: check_layers.py REPOSITORY. Prints every violation and exits 1 if there is one.
"""
import graphlib
import pathlib
import re
import sys

# folder → what its #include "core/…" may name (its own folder is always allowed)
CORE = {
    "core/base": [],
    "core/archive": ["core/base"],
    "core/ir": ["core/base"],
    "core/config": ["core/base"],
    "core/process": ["core/base"],
    "core/plugin_host": ["core/base", "core/archive", "core/config", "core/ir", "core/process"],
    "core/execution": ["core/base", "core/ir", "core/plugin_host", "core/process"],
    "core/analysis": ["core/base", "core/config", "core/execution", "core/ir", "core/plugin_host", "core/process"],
    "core/structure": ["core/base", "core/ir"],
    "core/symbolic": ["core/base", "core/ir", "core/plugin_host", "core/analysis"],
    "core/report": ["core/base", "core/ir", "core/process", "core/plugin_host", "core/analysis", "core/structure", "core/symbolic"],
    "core/comparison": ["core/base", "core/ir", "core/analysis", "core/structure", "core/report"],
    "core/saved": ["core/base", "core/ir", "core/analysis", "core/structure", "core/symbolic", "core/report"],
    "core/merging": ["core/base", "core/ir", "core/analysis", "core/report", "core/saved"],
    "apps/tmeter": ["core", "apps/tmeter"],
}
# folders that may see the SDK's headers, and how much of them
SDK = {"core/base": None, "core/process": None, "core/archive": None, "core/config": None, "core/ir": "tmeter/abi/"}
# a third-party header → the only folders that may use it
ONLY_IN = {
    "boost/dll": ["core/plugin_host"],
    "boost/program_options": ["apps/tmeter"],
    "toml++": ["core/config"],
    "simdjson": ["plugins/loaders", "plugins/torch_backend/executor", "core/saved"],
    "utf8proc.h": ["plugins/reports/text"],
    "hwy/": ["apps/measure", "plugins/highway", "plugins/metrics/param_stats", "plugins/advice/pruning", "plugins/advice/quantization"],
    "Eigen/": ["plugins/metrics/param_stats"],
    "torch/": ["plugins/torch_backend", "plugins/resize"],
    "ATen/": ["plugins/torch_backend", "plugins/resize"],
    "c10/": ["plugins/torch_backend", "plugins/resize"],
    "caffe2/": ["plugins/torch_backend", "plugins/resize"],
}
# a Python module → the only files of apps/python/tmeter that may import it; torch is slow, pandas optional
PYTHON_ONLY_IN = {
    "torch": ["export/", "factories.py", "compat/torchinfo/", "compat/torchmeter/"],
    "rich": ["compat/torchmeter/"],
    "polars": ["compat/torchmeter/"],
    "pandas": ["frames.py"],
    "pyarrow": ["frames.py", "fleet/table.py"],
    "ray": ["fleet/on_ray.py"],
    "fsspec": ["fleet/places.py"],
    "numpy": [],
    "pytest": ["pytest_plugin.py"],
    "mlflow": ["loggers.py"],
    "wandb": ["loggers.py"],
}
IMPORT = re.compile(r"^( *)(?:from|import) +([a-z_0-9]+)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def room_of(path: str) -> str | None:
    rooms = [r for r in CORE if path.startswith(r + "/")]
    return max(rooms, key=len) if rooms else None


def violations(repository: pathlib.Path):
    for file in sorted(repository.glob("*/**/*")):
        path = file.relative_to(repository).as_posix()
        if file.suffix not in (".cpp", ".hpp", ".h", ".in") or path.split("/")[0] not in ("core", "sdk", "apps", "plugins"):
            continue
        room = room_of(path)
        for include in INCLUDE.findall(file.read_text(errors="replace")):
            yield from check(path, room, include)


def check(path: str, room: str | None, include: str):
    inside = path.split("/")[0]
    if inside in ("sdk", "plugins") and include.startswith(("core/", "apps/", "tmeter_core/")):
        yield f"{path}: includes {include}; plugins and the SDK see sdk/ only"
    if room and include.startswith(("core/", "apps/")):
        allowed = [room, *CORE[room]]
        if not any(include.startswith(a + "/") for a in allowed):
            yield f"{path}: includes {include}; {room} may include {', '.join(allowed)}"
    if room in SDK and include.startswith("tmeter/") and (SDK[room] is None or not include.startswith(SDK[room])):
        yield f"{path}: includes {include}; {room} may include {SDK[room] or 'nothing'} of the SDK"
    for header, folders in ONLY_IN.items():
        if include.startswith(header) and not any(path.startswith(f + "/") for f in folders):
            yield f"{path}: includes {include}; only {', '.join(folders)} may"


def python_violations(repository: pathlib.Path):
    """Types alone (under TYPE_CHECKING) may be named anywhere: they are indented and cost nothing."""
    package = repository / "apps/python/tmeter"
    for file in sorted(package.glob("**/*.py")):
        path = file.relative_to(package).as_posix()
        text = re.sub(r"^if TYPE_CHECKING:\n(?:    .*\n|\n)*", "", file.read_text(), flags=re.MULTILINE)
        for _, module in IMPORT.findall(text):
            allowed = PYTHON_ONLY_IN.get(module)
            if allowed is not None and not path.startswith(tuple(allowed)):
                yield f"apps/python/tmeter/{path}: imports {module}; only {', '.join(allowed) or 'nobody'} may"


def require_one_direction() -> None:
    """Raises CycleError when the table itself lets rooms include each other in a circle."""
    graphlib.TopologicalSorter({room: set(may) - {room} for room, may in CORE.items()}).prepare()


def main() -> int:
    require_one_direction()
    repository = pathlib.Path(sys.argv[1])
    found = [*violations(repository), *python_violations(repository)]
    print("\n".join(found) if found else "every include stays in its room")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
