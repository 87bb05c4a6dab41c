"""The cost of fleets: models per second, and the share of distributing, recording and merging. For docs/fleet.md.

    VENV/bin/python fleet.py [--models N] [--weights FILE] [--ray]
    VENV/bin/python fleet.py --small N      N small files: the cost that the fleet adds to the program, at most 6 ms each

CPU seconds include this process and its children; other work on the machine hardly changes them.
"""

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tmeter import fleet
from tmeter.program import run

FIXTURES = Path(__file__).parents[1] / "fixtures"


def cpu() -> tuple[float, float]:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def measured(name: str, count: int, work) -> None:
    start, (own, children) = time.monotonic(), cpu()
    result = work()
    seconds, (own_now, children_now) = time.monotonic() - start, cpu()
    own, children = own_now - own, children_now - children
    print(f"{name:46} {seconds:8.2f} s  {1e3 * own / count:7.2f} ms CPU here, {1e3 * children / count:7.2f} ms in programs, "
          f"each of {count}", flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--weights", type=Path, help="a large safetensors file: the rate of one thread")
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--small", type=int, metavar="N")
    options = parser.parse_args()
    if options.small:
        return small(options.small)
    kinds = [FIXTURES / "models" / f"{n}.pt2" for n in ("resnet50", "gpt2_like", "dynamic_bert")]
    with tempfile.TemporaryDirectory(prefix="tmeter-bench-") as folder:
        root = Path(folder)
        models = {}
        for i in range(options.models):
            models[f"m{i}"] = root / f"m{i}.pt2"
            shutil.copy(kinds[i % len(kinds)], models[f"m{i}"])
        n = len(models)
        direct = root / "direct"
        direct.mkdir()

        def one_by_one():
            for name, path in models.items():
                run([str(path), "--report", f"json={direct / name}.json"])

        measured("the program alone, one after the other", n, one_by_one)
        one = os.environ.get("TMETER_BENCH_WORKERS", "2")
        measured(f"fleet, {one} processes, all of it", n,
                 lambda: fleet.analyze(models, root / "local", engine="local", workers=int(one), progress=False))
        measured("the same again: everything is there", n,
                 lambda: fleet.analyze(models, root / "local", engine="local", workers=int(one), progress=False))
        measured("tmeter merge --index", n,
                 lambda: run(["merge", "--index", str(root / "local/reports"), "--report", f"json={root / 'i.json'}"]))
        size = sum(f.stat().st_size for f in (root / "local/reports").iterdir())
        print(f"reports: {size / n / 1e3:.0f} kB each; index.html {(root / 'local/index.html').stat().st_size / n:.0f} B, "
              f"models.parquet {(root / 'local/models.parquet').stat().st_size / n:.0f} B a model")
        if options.ray:
            import ray

            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
            fleet.analyze([kinds[0]], root / "warm", engine="ray")
            measured("fleet on Ray, 2 processors (CPU of the driver)", n,
                     lambda: fleet.analyze(models, root / "ray", engine="ray", progress=False))
            ray.shutdown()
        shards(root)
        if options.weights:
            weights(options.weights)


def small(count: int) -> None:
    """Files of 12 small tensors. Programs are children of workers, so the time of children includes both."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
    from shards import write

    with tempfile.TemporaryDirectory(prefix="tmeter-bench-") as folder:
        root = Path(folder)
        tensors = {f"layers.{i}.weight": ([4, 4], [1.0] * 16) for i in range(12)}
        models = [write(root / f"m{i}.safetensors", tensors) for i in range(count)]
        alone = models[:400]
        before = cpu()
        for model in alone:
            run([str(model), "--threads=1", "--report", "json"])
        program = (cpu()[1] - before[1]) / len(alone)
        before, start = cpu(), time.monotonic()
        fleet.analyze(models, root / "out", engine="local", progress=False)
        driver, others = (after - b for after, b in zip(cpu(), before))
        print(f"the program {1e3 * program:.2f} ms; the driver {1e3 * driver / count:.2f} ms; beyond the program "
              f"{1e3 * ((driver + others) / count - program):.2f} ms each of {count:,}, in {time.monotonic() - start:.0f} s")
        before = cpu()
        fleet.analyze(models, root / "out", engine="local", progress=False)
        print(f"the same again: {1e3 * sum(a - b for a, b in zip(cpu(), before)) / count:.2f} ms each")
        start = time.monotonic()
        found = fleet.load(root / "out")
        frame = len(found.frame()) if found.models else 0
        print(f"{frame:,} rows open in {time.monotonic() - start:.2f} s; index.html has {(root / 'out/index.html').stat().st_size / 1e6:.1f} MB")


def shards(root: Path) -> None:
    """A checkpoint of 200 shards with 20 tensors each: the cost of merging."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
    from shards import write

    folder, where = root / "shards", {}
    folder.mkdir()
    for i in range(200):
        tensors = {f"layers.{i}.part.{j}.weight": ([64, 4], [j * 0.01 - i] * 256) for j in range(20)}
        name = f"model-{i + 1:05}-of-00200.safetensors"
        write(folder / name, tensors)
        where |= dict.fromkeys(tensors, name)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": where}))
    found = fleet.analyze({"c": index}, root / "checkpoint", plugins="params,memory,flops,param-stats", engine="local",
                          workers=2, progress=False)
    found.require_all()
    parts = root / "checkpoint/shards/c"
    size = sum(f.stat().st_size for f in parts.iterdir())
    measured(f"tmeter merge, 20 tensors a shard, {size / 200 / 1e3:.0f} kB", 200,
             lambda: run(["merge", str(parts), "--report", f"json={root / 'm.json'}"]))


def weights(file: Path) -> None:
    for columns in ("mean", "spectral_norm"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run([str(file), "--plugins=param-stats", f"--columns={columns}", "--threads=1", "--report", "json=/dev/null"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"param-stats, columns {columns}: {file.stat().st_size / seconds / 1e9:.2f} GB a CPU second")


if __name__ == "__main__":
    main()
