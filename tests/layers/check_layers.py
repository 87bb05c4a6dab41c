#!/usr/bin/env python3
"""Permitted includes of each room: the right-hand column of docs/architecture.md, enforced.

A room is a folder with sources. No two folders of the repository may include each other, directly or through others. Usage:
check_layers.py REPOSITORY. Prints every violation and exits 1 if there is one.
"""
import graphlib
import os
import pathlib
import re
import sys

# room of the host → other rooms of the host it may include
CORE = {
    "core/base": [],
    "core/archive": ["core/base"],
    "core/ir": ["core/base"],
    "core/config": ["core/base"],
    "core/process": ["core/base"],
    "core/plugin_host": ["core/base", "core/archive", "core/config", "core/ir", "core/process"],
    "core/execution": ["core/base", "core/ir", "core/plugin_host", "core/process"],
    "core/analysis": ["core/base", "core/config", "core/execution", "core/ir", "core/plugin_host", "core/process"],
    "core/module_description": ["core/base", "core/ir"],
    "core/symbolic": ["core/base", "core/ir", "core/plugin_host", "core/analysis"],
    "core/report": ["core/base", "core/ir", "core/process", "core/plugin_host", "core/analysis", "core/module_description", "core/symbolic"],
    "core/comparison": ["core/base", "core/ir", "core/analysis", "core/module_description", "core/report"],
    "core/report_reader": ["core/base", "core/ir", "core/analysis", "core/module_description", "core/symbolic", "core/report"],
    "core/merging": ["core/base", "core/ir", "core/analysis", "core/report", "core/report_reader"],
    "apps/tmeter": ["core", "apps/tmeter"],
}
# rooms of the plugins that link LibTorch: folder → the folders below plugins/torch_backend that its #include "…" may name
TORCH_ROOT = "plugins/torch_backend/"
TORCH = {
    "operators": [],
    "operators/meta_kernels": ["operators"],
    "torchscript/archive": [],
    "torchscript/review": ["operators"],
    "torchscript/primitives": ["operators", "torchscript/review"],
    "torchscript/load": ["operators", "torchscript/archive", "torchscript/review", "torchscript/primitives"],
    "torchscript/run": ["operators", "torchscript/archive", "torchscript/primitives", "torchscript/load"],
    "torchscript/input_inference": ["operators", "torchscript/load", "torchscript/run"],
    "torchscript": ["operators", "operators/meta_kernels", "torchscript/load", "torchscript/primitives", "torchscript/run",
                    "torchscript/input_inference"],
    "executor": ["operators", "torchscript/archive", "torchscript/run"],
    "plugin.cpp": ["operators", "torchscript", "executor"],
    "../resize": ["operators", "operators/meta_kernels"],
}
# plugin (or a folder of several) → other folders of plugins/ it may include besides plugins/common. The longest prefix counts.
# Includes within a plugin are free, but must not form circles.
PLUGINS = {
    "plugins/common": [],
    "plugins/loaders/common": [],
    "plugins/loaders": ["plugins/loaders/common"],
    "plugins/loaders/safetensors": ["plugins/loaders/common", "plugins/encodings/recognition"],
    "plugins/encodings": [],
    "plugins/encodings/recognition": ["plugins/loaders/common"],
    "plugins/metrics": [],
    "plugins/metrics/sensors": [],
    "plugins/metrics/energy": ["plugins/metrics/sensors"],
    "plugins/metrics/latency": ["plugins/metrics/sensors"],
    "plugins/metrics/system": ["plugins/metrics/sensors"],
    "plugins/advice/common": [],
    "plugins/advice": ["plugins/advice/common"],
    "plugins/reports/common": [],
    "plugins/reports": ["plugins/reports/common"],
    "plugins/reports/ci": ["plugins/reports/common", "plugins/reports/xml"],
    "plugins/reports/netron": ["plugins/reports/common", "plugins/reports/json"],
    "plugins/reports/full_text": ["plugins/reports/common", "plugins/reports/text"],
    "plugins/reports/diff": ["plugins/reports/common", "plugins/reports/ci", "plugins/reports/json", "plugins/reports/markdown", "plugins/reports/text"],
    "plugins/torch_backend": [],
    "plugins/resize": ["plugins/torch_backend"],
}
# headers of the SDK that need only the standard library
TEXT = tuple(f"tmeter/cpp/{name}.hpp" for name in ("natural_order", "nearest", "sha256", "text_hash", "utf8"))
# rooms of the host that do not depend on plugins → headers of the SDK that they may include
SDK = {"core/base": TEXT, "core/process": TEXT, "core/archive": TEXT, "core/config": TEXT, "core/ir": ("tmeter/abi/", *TEXT)}
# a third-party header → the only folders that may use it
ONLY_IN = {
    "boost/dll": ["core/plugin_host"],
    "boost/program_options": ["apps/tmeter"],
    "toml++": ["core/config"],
    "simdjson": ["plugins/loaders", "plugins/encodings/recognition", "plugins/torch_backend/executor", "core/report_reader"],
    "utf8proc.h": ["plugins/reports/text"],
    "hwy/": ["apps/measure", "plugins/common/highway", "plugins/metrics/param_stats", "plugins/advice/pruning", "plugins/advice/quantization",
            "plugins/loaders/gguf"],
    "Eigen/": ["plugins/metrics/param_stats"],
    "torch/": ["plugins/torch_backend", "plugins/resize"],
    "ATen/": ["plugins/torch_backend", "plugins/resize"],
    "c10/": ["plugins/torch_backend", "plugins/resize"],
    "caffe2/": ["plugins/torch_backend", "plugins/resize"],
}
# a Python module → the only files of apps/python/tmeter that may import it; torch is slow, pandas is optional
PYTHON_ONLY_IN = {
    "torch": ["export/", "factories.py", "compat/torchinfo/", "compat/torchmeter/"],
    "rich": ["compat/torchmeter/"],
    "polars": ["compat/torchmeter/"],
    "pandas": ["frames.py"],
    "pyarrow": ["frames.py", "fleet/table.py"],
    "ray": ["fleet/on_ray.py"],
    "fsspec": ["fleet/files.py"],
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


def torch_room_of(path: str, root: str = "") -> str | None:
    path = path.replace("plugins/resize/", TORCH_ROOT + "../resize/").removeprefix(root)
    rooms = [r for r in TORCH if path == r or path.startswith(r + "/")]
    return max(rooms, key=len) if rooms else None


def check_torch(path: str, include: str):
    room, included = torch_room_of(path, TORCH_ROOT), torch_room_of(include)
    allowed = TORCH.get(room, [])
    if included and included not in [room, *allowed]:
        yield f"{path}: includes {include}; {room} may include {', '.join(allowed) or 'no other room'}"


def plugin_of(path: str) -> str:
    """The plugin, or the shared folder, that a file of plugins/ belongs to: two or three levels deep."""
    parts = path.split("/")
    deep = parts[1] in ("loaders", "encodings", "metrics", "advice", "reports")
    return "/".join(parts[: 3 if deep else 2])


def sources(repository: pathlib.Path):
    """{path: its #includes} of all sources that the rules cover."""
    found = {}
    for top in ("core", "sdk", "apps", "plugins"):
        for file in sorted(repository.glob(f"{top}/**/*")):
            if file.suffix in (".cpp", ".hpp", ".h", ".in") and "node_modules" not in file.parts and file.is_file():
                found[file.relative_to(repository).as_posix()] = INCLUDE.findall(file.read_text(errors="replace"))
    return found


def resolved(path: str, include: str, files) -> str | None:
    """The file of the repository that an include names: relative to the file, to the root or to a folder around it, or to a
    folder that the build adds, if no other file has that name."""
    folder = os.path.dirname(path)
    while True:
        candidate = os.path.normpath(os.path.join(folder, include))
        if candidate in files:
            return candidate
        if not folder:
            public = "sdk/include/" + include
            if public in files:
                return public
            named = [f for f in files if f.endswith("/" + include)]
            return named[0] if len(named) == 1 else None
        folder = os.path.dirname(folder)


def violations(repository: pathlib.Path):
    files = sources(repository)
    edges = {}
    for path, includes in files.items():
        for include in includes:
            target = resolved(path, include, files)
            yield from check(path, room_of(path), include)
            if path.startswith((TORCH_ROOT, "plugins/resize/")):
                yield from check_torch(path, include)
            if target and path.startswith("plugins/"):
                yield from check_plugin(path, target)
            if target and os.path.dirname(target) != os.path.dirname(path):
                edges.setdefault(os.path.dirname(path), {}).setdefault(os.path.dirname(target), (path, target))
    yield from circles(edges)


def check(path: str, room: str | None, include: str):
    inside = path.split("/")[0]
    if inside in ("sdk", "plugins") and include.startswith(("core/", "apps/", "tmeter_core/")):
        yield f"{path}: includes {include}; plugins see sdk/ and plugins/common, the SDK itself alone"
    if inside != "plugins" and include.startswith("plugins/"):
        yield f"{path}: includes {include}; only plugins may"
    if room and include.startswith(("core/", "apps/")):
        allowed = [room, *CORE[room]]
        if not any(include.startswith(a + "/") for a in allowed):
            yield f"{path}: includes {include}; {room} may include {', '.join(allowed)}"
    if room in SDK and include.startswith("tmeter/") and not include.startswith(SDK[room]):
        yield f"{path}: includes {include}; {room} may include {', '.join(SDK[room])} of the SDK"
    for header, folders in ONLY_IN.items():
        if include.startswith(header) and not any(path.startswith(f + "/") for f in folders):
            yield f"{path}: includes {include}; only {', '.join(folders)} may"


def check_plugin(path: str, target: str):
    if not target.startswith("plugins/"):
        return
    plugin, other = plugin_of(path), plugin_of(target)
    rule = max((p for p in PLUGINS if f"{plugin}/".startswith(p + "/")), key=len, default=None)
    if rule is None:
        yield f"{path}: {plugin} has no rule in check_layers.py"
    elif other not in (plugin, "plugins/common", *PLUGINS[rule]):
        allowed = [plugin, "plugins/common", *PLUGINS[rule]]
        yield f"{path}: includes {target}; {plugin} may include {', '.join(allowed)}"


def circles(edges: dict):
    """Folders that include each other, one line per circle."""
    graph = {a: set(to) for a, to in edges.items()}
    while True:
        try:
            return graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            circle = list(reversed(error.args[1]))  # each includes the next
            steps = [" -> ".join(edges[a][b]) for a, b in zip(circle, circle[1:])]
            yield f"folders include each other in a circle: {' -> '.join(circle)} ({'; '.join(steps)})"
            graph[circle[0]].discard(circle[1])


def python_violations(repository: pathlib.Path):
    """Imports for types only (under TYPE_CHECKING) are allowed anywhere: they are indented and cost nothing."""
    package = repository / "apps/python/tmeter"
    for file in sorted(package.glob("**/*.py")):
        path = file.relative_to(package).as_posix()
        text = re.sub(r"^if TYPE_CHECKING:\n(?:    .*\n|\n)*", "", file.read_text(), flags=re.MULTILINE)
        for _, module in IMPORT.findall(text):
            allowed = PYTHON_ONLY_IN.get(module)
            if allowed is not None and not path.startswith(tuple(allowed)):
                yield f"apps/python/tmeter/{path}: imports {module}; permitted in: {', '.join(allowed) or 'no file'}"


def require_one_direction() -> None:
    """Raises CycleError if the table itself lets rooms include each other in a circle."""
    for rooms in (CORE, TORCH):
        graphlib.TopologicalSorter({room: set(may) - {room} for room, may in rooms.items()}).prepare()


def main() -> int:
    require_one_direction()
    repository = pathlib.Path(sys.argv[1])
    found = [*violations(repository), *python_violations(repository)]
    print("\n".join(found) if found else "every include stays in its room")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
