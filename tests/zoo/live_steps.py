"""The steps of live.py for one model, in a separate process: reference, tmeter, the tools."""

import gc
import json
import resource
import time
import warnings
from pathlib import Path

import torch
from torch.utils import _pytree as pytree

import build
import steps
from live import LARGEST_REAL, LARGEST_TIMED, MEMORY, in_fork
from table import Entry

warnings.simplefilter("ignore")
#: Seconds for one call.
LIMIT = 300
torch.set_num_threads(1)  # avoids a pool of threads that a forked process would wait for


def warm_up(libraries) -> None:
    """Imports all tools and calls each once, so that their set-up is not measured."""
    import importlib

    import tmeter

    for library in libraries:
        importlib.import_module(library)
    small = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU())
    x = torch.zeros(2, 3, 8, 8)
    tmeter.analyze(small, inputs=[x])
    tmeter.analyze(small, inputs=[x], dynamic_batch=False)
    for tool in TOOLS.values():
        tool(torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3)), [x], {})


def by_torchinfo(model, args, kwargs):
    import torchinfo

    return torchinfo.summary(model, input_data=args or kwargs, verbose=0).total_mult_adds


def by_fvcore(model, args, kwargs):
    from fvcore.nn import FlopCountAnalysis

    positional = tuple(args) or tuple(kwargs.values())
    counted = FlopCountAnalysis(model, positional)
    counted.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    return counted.total()


def by_calflops(model, args, kwargs):
    from calflops import calculate_flops

    return calculate_flops(model, args=list(args), kwargs=dict(kwargs), print_results=False, print_detailed=False,
                           output_as_string=False)[1]


def by_thop(model, args, kwargs):
    import thop

    return thop.profile(model, inputs=tuple(args) or tuple(kwargs.values()), verbose=False)[0]


TOOLS = {"torchinfo": by_torchinfo, "fvcore": by_fvcore, "calflops": by_calflops, "thop": by_thop}


def forward(model, args, kwargs) -> None:
    """The model's run alone, which every tool makes."""
    model.eval()(*args, **kwargs)


def on_meta(model, args, kwargs):
    """The same run without data: the time in which torch computes sizes."""

    def like(x):
        return x.to("meta") if isinstance(x, torch.Tensor) else x

    return model.to("meta"), pytree.tree_map(like, args), pytree.tree_map(like, kwargs)


#: Calls of torch alone, and changes of their arguments before the clock starts.
TORCH = {"forward": (forward, lambda *args: args), "forward on meta": (forward, on_meta)}


def versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    import tmeter

    names = ("torch", "torchvision", "timm", "transformers", *TOOLS)
    return {"tmeter": tmeter.__version__, "python": platform.python_version()} | {n: version(n) for n in names}


def reference(entry: Entry) -> dict:
    facts = steps.reference(entry, Path())
    return {k: facts[k] for k in ("params", "macs", "device", "rows", "error") if k in facts}


def live(entry: Entry, real: bool) -> tuple[torch.nn.Module, list, dict]:
    """The model as its library makes it, and its arguments, with names if the table has them."""
    model = build.build(entry, "cpu") if real else build.build_on_meta(entry)
    inputs = build.inputs_of(entry, model)
    tensors = build.arguments(inputs, "cpu" if real else "meta")
    if isinstance(model, build.TensorsOnly):
        return model.model, [], dict(zip(model.names, tensors))
    return model, list(tensors), {}


def processor_seconds() -> float:
    """Processor seconds of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def timed_call(call) -> dict:
    start, used = time.perf_counter(), processor_seconds()
    try:
        facts = call() or {}
    except Exception as error:
        facts = {"error": steps.one_line(error)}
    return facts | {"seconds": time.perf_counter() - start, "cpu_seconds": processor_seconds() - used}


def timed_after(call, ready, args) -> dict:
    try:
        args = ready(*args)
    except Exception as error:
        return {"error": steps.one_line(error)}
    return timed_call(lambda: call(*args))


def apart(call, folder: Path) -> dict:
    """Runs a step in a separate process, so that all steps start equally: nothing is left by another step, and each
    pays for the pages that it touches first."""

    def write() -> None:
        answer.write_text(json.dumps(call()))

    answer = folder / "call.json"
    answer.unlink(missing_ok=True)
    status = in_fork(write, LIMIT)
    return json.loads(answer.read_text()) if answer.exists() else {"error": f"process ended with {status}"}


def by_tmeter(model, args, kwargs) -> dict:
    import tmeter

    result = tmeter.analyze(model, inputs=kwargs or args, plugins="params,flops")
    facts = {m: result.total(m) for m in ("params", "macs")}
    facts["status"] = {m: result.status(m) for m in ("params", "macs")}
    facts["unknown"] = result.to_dict()["coverage"]["unknown"]
    way = result.export
    program = result.to_dict()["timing"]["analysis_seconds"]
    return facts | {"way": way.way, "failed": way.failed, "export_seconds": way.seconds, "program_seconds": program}


def run(entry: Entry, timed: bool, recorded: dict | None, answer: Path) -> None:
    """Writes the results after each step, so that a killed process loses only later steps."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))
    facts: dict = {}

    def note(key: str, value: dict) -> None:
        facts[key] = value
        answer.write_text(json.dumps(facts))

    note("reference", recorded or reference(entry))
    params = facts["reference"].get("params", 0)
    timed = timed and params <= LARGEST_TIMED
    real = entry.on_cpu or timed
    if real and params > LARGEST_REAL:
        return note("complete", {"skipped": f"{params} parameters"})
    try:
        model, args, kwargs = live(entry, real)
    except Exception as error:
        return note("complete", {"not built": steps.one_line(error)})
    note("built", {"on": "cpu" if real else "meta"})
    folder = answer.parent
    gc.collect()
    gc.freeze()
    note("tmeter", apart(lambda: timed_call(lambda: by_tmeter(model, args, kwargs)), folder))
    if timed:
        torch.set_grad_enabled(False)
        for name, tool in TOOLS.items():
            note(name, apart(lambda: timed_call(lambda: {"macs": tool(model, args, kwargs)}), folder))
        for name, (call, ready) in TORCH.items():
            note(name, apart(lambda: timed_after(call, ready, (model, args, kwargs)), folder))
    note("complete", {"timed": timed})
