"""tmeter.fleet on a Ray cluster of three nodes on this machine: a worker is killed, then a whole node."""

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from shards import assert_same_figures, cut

import tmeter
from tmeter import fleet

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    ray = None
pytestmark = pytest.mark.skipif(ray is None, reason="Ray is not installed")

FIXTURES = Path(os.environ["FIXTURES"])
STATS = "params,memory,flops,param-stats"


#: No usage statistics; long time limits, as the defaults (30 s to a minute) are too short for a busy machine.
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_worker_register_timeout_seconds": "300",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_health_check_timeout_ms": "120000",
}


@pytest.fixture(scope="module")
def cluster():
    os.environ.update(SETTINGS)
    store = {"object_store_memory": 80 << 20}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **store})
    made.nodes = [made.add_node(num_cpus=1, resources={"shelf": 1}, **store), made.add_node(num_cpus=1, **store)]
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def test_killed_workers_and_a_lost_node(cluster, tmp_path):
    """A worker or node dies at each third of the work: nothing is lost, and the merged report equals a single run's."""
    real = tmeter.program.program_path()
    program = tmp_path / "program"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" != merge ] && mkdir "{tmp_path}/once" 2>/dev/null; then kill -9 $PPID; exit 1; fi\nexec "{real}" "$@"\n'
    )
    program.chmod(0o755)
    index = cut(FIXTURES / "trained/model.safetensors", tmp_path / "shards", 9)
    gone, seen = [], []

    def watch(progress):
        seen.append(progress)
        if progress.done == 4 and not gone:
            gone.append(cluster.nodes.pop())
            cluster.remove_node(gone[0], allow_graceful=False)

    found = fleet.analyze(
        {"trained": index, "resnet": FIXTURES / "models/resnet50.pt2", "gone": tmp_path / "gone.pt2"},
        tmp_path / "out",
        plugins=STATS,
        engine="ray",
        ray_options={"runtime_env": {"env_vars": {"TMETER_PROGRAM": str(program)}}},
        retries=3,
        progress=watch,
    )
    assert (tmp_path / "once").is_dir() and gone and seen[-1].retried >= 1
    assert [row["status"] for row in found.models] == ["ok", "ok", "failed"]
    assert found.row("resnet")["macs"] == 4_089_184_256
    assert found.row("trained")["shards"] == 9 and found.row("trained")["tries"] >= 10
    assert_same_figures(tmeter.analyze(index, plugins=STATS).to_dict(), found.result("trained").to_dict())


def test_a_shard_goes_where_it_lies(cluster, tmp_path):
    """A file on a node's own disk is read there: the node has a resource, and the task requests it."""
    model = FIXTURES / "models/resnet50.pt2"
    found = fleet.analyze([model], tmp_path / "out", place=lambda source: {"shelf": 0.01})
    assert not found.failed  # "auto" uses the connected cluster
    assert ray.cluster_resources()["shelf"] == 1


def of_ray(folder):
    """Processes of the Ray whose files are there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in entry.read_bytes():
                found.append(entry)
    return found


def test_a_cluster_of_its_own(tmp_path):
    """Ray that the command starts lives as long as the run, and no process of it longer."""
    models = [FIXTURES / f"models/{name}.pt2" for name in ("resnet50", "gpt2_like")]
    words = [sys.executable, "-m", "tmeter", "fleet", *models, "-o", tmp_path / "out", "--ray", "local", "-q"]
    with tempfile.TemporaryDirectory(prefix="tmeter-ray-", dir="/tmp") as folder:  # a socket's path is short
        environment = {**os.environ, **SETTINGS, "RAY_TMPDIR": folder}
        environment.pop("RAY_ADDRESS", None)
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert fleet.load(tmp_path / "out").row(str(models[0]))["macs"] == 4_089_184_256
        assert not of_ray(folder)
