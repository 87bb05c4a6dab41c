"""Compares further model types, made from small configurations, with FlopCounterMode and the module's own
parameters: live, as the file of a plain torch.export, and as the file of a plain torch.jit.trace.

    PYTHON survey.py [--csv ../../docs/dev/survey.csv] [NAME …]     PYTHON: tests/python/requirements.txt and tmeter
"""

import argparse
import csv
import json
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path

from survey_libraries import LIBRARIES
from survey_models import MODELS
from survey_reference import one_expert_after_the_other, reference

SECONDS = 150  # of the processor
WAYS = ("live", "exported", "traced")
COLUMNS = ("name", "params", "flops", *(f"{way}{part}" for way in WAYS for part in ("", "_flops", "_status")), "messages")


def files(model, inputs, folder):
    """way → function that writes the file as a user would, and returns its path and the program."""
    import torch

    tensors = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    whole = with_tensors_alone(model, tensors, {k: v for k, v in inputs.items() if k not in tensors}).eval()
    args = tuple(tensors.values())

    def exported():
        program = torch.export.export(whole, args, strict=False)
        torch.export.save(program, folder / "exported.pt2")
        return folder / "exported.pt2", lambda: reference(program.module(), args)

    def traced():
        program = torch.jit.trace(whole, args, check_trace=False, strict=False)
        program.save(str(folder / "traced.pt"))
        return folder / "traced.pt", lambda: reference(program, args)

    return {"exported": exported, "traced": traced}


def with_tensors_alone(model, names, fixed):
    """Takes tensors by position and returns the tensors of the results."""
    import torch

    from tmeter.export.forward import tensors_in

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *inputs):
            return tuple(tensors_in(self.model(**dict(zip(names, inputs)), **fixed)))

    return Whole()


def verdict(result, flops, params, own):
    """exact; warned: with a status; another program: the count is FlopCounterMode's for the program in the file; WRONG: otherwise"""
    right = (result.total("flops"), result.total("params")) == (flops, params)
    if result.status("flops"):
        return "exact, with a status" if right else "warned"
    if right:
        return "exact"
    return "another program" if result.total("params") == params and result.total("flops") == tried(own) else "WRONG"


def tried(own):
    try:
        return own()
    except Exception:
        return None


def remarks(result):
    unknown = sorted({u["op"] for u in result.coverage["unknown_ops"]})
    messages = [*result.warnings] + ([f"unknown: {', '.join(unknown)}"] if unknown else [])
    if result.status("other_flops") == "lower_bound" and not messages:
        messages.append("other_flops is a lower bound, without a reason")
    return messages


def row(name):
    import torch

    import tmeter

    found = {"name": name}
    try:
        torch.manual_seed(0)
        model, inputs = (MODELS | LIBRARIES)[name]()
        model.eval()
        flops = reference(one_expert_after_the_other(model), inputs)
    except Exception as error:
        return found | {"messages": f"does not run: {type(error).__name__}: {error}"[:300]}
    params = sum(p.numel() for p in model.parameters())
    found |= {"params": params, "flops": flops}
    messages = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ways = {"live": lambda: (tmeter.analyze(model, inputs=inputs), lambda: None)}
        for way, make in files(model, inputs, Path(folder)).items():
            ways[way] = lambda make=make, way=way: analyze_file(make, way)
        for way, result_of in ways.items():
            try:
                result, own = result_of()
            except NotMade as error:
                found[way] = "torch refuses"
                messages.append(f"{way}: {error}")
                continue
            except tmeter.Error as error:
                found[way] = "refused"
                messages.append(f"{way}: {type(error).__name__}: {error}")
                continue
            found[way] = verdict(result, flops, params, own)
            found[f"{way}_flops"], found[f"{way}_status"] = result.total("flops"), result.status("flops") or ""
            if way == "live" and result.export.way != "dispatch on fake tensors":
                messages.append(f"live: by {result.export.way}; " + "; ".join(f"{w}: {t}" for w, t in result.export.failed))
            messages += [f"{way}: {text}" for text in remarks(result)]
    return found | {"messages": " | ".join(" ".join(s.split())[:600] for s in messages)}


class NotMade(Exception):
    """torch itself cannot write such a file."""


def analyze_file(make, way):
    import tmeter

    try:
        file, own = make()
    except Exception as error:
        raise NotMade(f"torch.{'export' if way == 'exported' else 'jit.trace'}: {type(error).__name__}: {error}"[:200])
    return tmeter.analyze(file), own


def apart(name):
    """Runs the call in a separate process with a time limit."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            found = row(name)
        except BaseException as error:  # noqa: BLE001  every error is a finding
            found = {"name": name, "live": "CRASH", "messages": repr(error)[:400]}
        with os.fdopen(writer, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"name": name, "live": "CRASH", "messages": f"ended, after at most {SECONDS} s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    import torch
    import transformers

    import tmeter  # noqa: F401  before the forks, because all of them need it

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    rows = []
    for name in options.names or MODELS:
        rows.append(apart(name))
        print(json.dumps(rows[-1]), flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as out:
            table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    return sum("WRONG" in r.values() or "CRASH" in r.values() for r in rows)


if __name__ == "__main__":
    sys.exit(main())
