"""tmeter.fleet on a Ray cluster of three nodes on this machine: a worker is killed, then a whole node."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from served import Server
from shards import assert_same_values, cut

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
    removed, seen = [], []

    def watch(progress):
        seen.append(progress)
        if progress.done == 4 and not removed:
            removed.append(cluster.nodes.pop())
            cluster.remove_node(removed[0], allow_graceful=False)

    found = fleet.analyze(
        {"trained": index, "resnet": FIXTURES / "models/resnet50.pt2", "gone": tmp_path / "gone.pt2"},
        tmp_path / "out",
        plugins=STATS,
        engine="ray",
        ray_options={"runtime_env": {"env_vars": {"TMETER_PROGRAM": str(program)}}},
        retries=3,
        progress=watch,
    )
    assert (tmp_path / "once").is_dir() and removed and seen[-1].retried >= 1
    assert [row["status"] for row in found.models] == ["ok", "ok", "failed"]
    assert found.row("resnet")["macs"] == 4_089_184_256
    assert found.row("trained")["shards"] == 9 and found.row("trained")["tries"] >= 10
    assert_same_values(tmeter.analyze(index, plugins=STATS).to_dict(), found.result("trained").to_dict())


def test_a_task_runs_on_the_node_of_its_file(cluster, tmp_path):
    """A file on a node's own disk is read there: the node has a resource, and the task requests it."""
    model = FIXTURES / "models/resnet50.pt2"
    found = fleet.analyze([model], tmp_path / "out", place=lambda source: {"shelf": 0.01})
    assert not found.failed  # "auto" uses the connected cluster
    assert ray.cluster_resources()["shelf"] == 1


def of_ray(folder):
    """Processes of the Ray that has its files in this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in entry.read_bytes():
                found.append(entry)
    return found


def test_a_cluster_of_its_own(tmp_path):
    """The command starts Ray for the run, and no process of this Ray outlives the run."""
    models = [FIXTURES / f"models/{name}.pt2" for name in ("resnet50", "gpt2_like")]
    words = [sys.executable, "-m", "tmeter", "fleet", *models, "-o", tmp_path / "out", "--ray", "local", "-q"]
    with tempfile.TemporaryDirectory(prefix="tmeter-ray-", dir="/tmp") as folder:  # a socket's path must be short
        environment = {**os.environ, **SETTINGS, "RAY_TMPDIR": folder}
        environment.pop("RAY_ADDRESS", None)
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert fleet.load(tmp_path / "out").row(str(models[0]))["macs"] == 4_089_184_256
        assert not of_ray(folder)


#: The command with a head that counts as lost after 5 s without an answer, instead of 30 s.
IMPATIENT = "import sys; from tmeter.fleet import command, on_ray; on_ray._GONE = 5.0; sys.exit(command.fleet_command(sys.argv[1:]))"


@pytest.mark.parametrize("victim", ["raylet", "gcs_server", "driver"])
def test_a_cluster_that_dies_leaves_the_table_and_one_line(tmp_path, victim):
    """Ray itself would print many lines on standard output and end its driver after a minute. This run prints one line and ends in order."""
    real = tmeter.program.program_path()
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ncase "$*" in *slow*) touch "{tmp_path}/begun"; sleep 600;; esac\nexec "{real}" "$@"\n')
    program.chmod(0o755)
    for name in ("resnet50", "slow"):
        (tmp_path / f"{name}.pt2").symlink_to(FIXTURES / f"models/{'gpt2_like' if name == 'slow' else name}.pt2")
    words = [sys.executable, "-c", IMPATIENT, tmp_path / "resnet50.pt2", tmp_path / "slow.pt2", "-o", tmp_path / "out", "--ray", "local", "-q"]
    with tempfile.TemporaryDirectory(prefix="tmeter-ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, **SETTINGS, "RAY_TMPDIR": folder, "TMETER_PROGRAM": str(program)}
        environment.pop("RAY_ADDRESS", None)
        python = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        ledger = tmp_path / "out/ledger"
        end = time.monotonic() + 300
        while not (tmp_path / "begun").exists() or not any(b"resnet50.pt2" in f.read_bytes() for f in ledger.glob("*")):
            assert time.monotonic() < end and python.poll() is None
            time.sleep(0.1)
        time.sleep(1)  # until the driver has recorded the first model
        if victim == "driver":
            python.send_signal(signal.SIGINT)
        for entry in of_ray(folder):
            with contextlib.suppress(OSError):
                if f"/{victim}" in entry.read_text().split("\0")[0]:
                    os.kill(int(entry.parent.name), signal.SIGKILL)
        output, error = python.communicate(timeout=200)
    beginning = {"raylet": "Ray's node of this machine died; ", "gcs_server": "Ray's head node gives no answer (", "driver": "interrupted; "}
    assert (python.returncode, output) == (130 if victim == "driver" else 1, "")
    (line,) = error.splitlines()
    assert line.startswith(f"tmeter: {beginning[victim]}") and "the table is of the models done by then" in line
    found = fleet.load(tmp_path / "out")
    assert [row["macs"] for row in found.models] == [4_089_184_256] and not found.is_complete
    assert not (tmp_path / "out/lock").exists()


def test_no_node_has_the_requested_resources(cluster, tmp_path, monkeypatch):
    from tmeter.fleet import on_ray

    monkeypatch.setattr(on_ray, "_TO_GROW", 1.0)
    model = FIXTURES / "models/resnet50.pt2"
    for options, words in (({"threads": 64}, "CPU 64"), ({"place": lambda source: {"attic": 1}}, "CPU 1, attic 1")):
        with pytest.raises(tmeter.Error, match=f"no node of the Ray cluster has the resources that a task requests .{words}.;"):
            fleet.analyze([model], tmp_path / "out", **options)


@pytest.mark.parametrize("server, message", [("silent", "timed out"), ("web", "the server there is another one")])
def test_an_address_of_another_service(tmp_path, monkeypatch, server, message):
    from tmeter.fleet import on_ray

    monkeypatch.setattr(on_ray, "_TO_CONNECT", 2.0)
    with Server() as web, socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1] if server == "silent" else web.server.server_port
        for prefix in ("", "ray://"):
            with pytest.raises(tmeter.UsageError, match=f"127.0.0.1:{port}': no Ray there .{message}.") as raised:
                on_ray._require_answer(f"{prefix}127.0.0.1:{port}")
            assert "\n" not in str(raised.value)


def test_a_cluster_answers(cluster):
    from tmeter.fleet import on_ray

    on_ray._require_answer(cluster.address)


@pytest.mark.parametrize("address, kind, words", [("auto", tmeter.UsageError, "address='auto': no Ray there"), (None, tmeter.Error, "Ray could not be started")])
def test_a_ray_that_does_not_start_is_not_waited_for(monkeypatch, address, kind, words):
    import threading

    from tmeter.fleet import on_ray

    class Waiting:
        init = staticmethod(lambda **options: time.sleep(600))

    monkeypatch.setattr(on_ray, "_TO_START", 0.2)
    with pytest.raises(kind, match=f"{words}.*no answer within"):
        on_ray._connected(Waiting, address, threading.Event())
