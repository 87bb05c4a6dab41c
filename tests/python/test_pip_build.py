"""`pip install .` on a machine that lacks tmeter's libraries (apps/python/libraries.cmake, fetch_debian): without the network,
with a stand-in for apt. `.dev/bare-root-test -- pip` tests the whole build in a bare Debian."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PARTS = Path(os.environ["SOURCE"]) / "apps/python"
DEBIAN = shutil.which("dpkg-deb") is not None
pytestmark = pytest.mark.skipif(not DEBIAN, reason="no Debian")

APT = """#!/bin/sh
echo "$0 $*" >>"{log}"
for word; do case $word in Dir::Cache::archives=*) archives=${{word#*=}};; esac; done
case "$0 $*" in
*apt-cache*libold*) exit 100 ;;
*" install "*) {deed} ;;
esac
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Runs fetch_debian with an apt that does `deed` on install."""
    package = tmp_path / "package"
    (package / "DEBIAN").mkdir(parents=True)
    (package / "usr/include").mkdir(parents=True)
    (package / "usr/include/new.h").write_text("// new\n")
    (package / "DEBIAN/control").write_text("Package: new\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n")
    subprocess.run(["dpkg-deb", "--build", package, tmp_path / "new.deb"], check=True, stdout=subprocess.DEVNULL)
    tools = tmp_path / "tools"
    tools.mkdir()

    def fetch(deed, *packages, path=f"{tools}:{os.environ['PATH']}"):
        for name in ("apt-get", "apt-cache"):
            (tools / name).write_text(APT.format(log=tmp_path / "log", deed=deed.format(deb=tmp_path / "new.deb")))
            (tools / name).chmod(0o755)
        command = ["/bin/sh", PARTS / "fetch_debian", tmp_path / "kept/debian", *packages]
        return subprocess.run(command, env={"PATH": path}, capture_output=True, text=True)

    fetch.folder, fetch.log = tmp_path / "kept/debian", tmp_path / "log"
    return fetch


def test_packages_are_fetched_once(machine):
    done = machine('cp {deb} "$archives"', "libnew-dev", "libold1-dev|libnewer2-dev|libnewest3-dev")
    assert done.returncode == 0, done.stderr
    assert (machine.folder / "usr/include/new.h").read_text() == "// new\n"
    install = next(line for line in machine.log.read_text().splitlines() if " install " in line)
    assert " libnew-dev libnewer2-dev -o " in install and "--download-only" in install
    calls = machine.log.read_text()
    assert machine("exit 1", "libnew-dev").returncode == 0 and machine.log.read_text() == calls
    assert os.listdir(machine.folder.parent) == ["debian"]


@pytest.mark.parametrize(
    "deed, message",
    [
        ('echo "E: no space" >&2; exit 100', "apt-get could not download"),
        ('head -c 100 {deb} >"$archives/new.deb"', "dpkg-deb: error"),
        (":", "nothing to download"),
    ],
)
def test_a_failure_leaves_no_files(machine, deed, message):
    done = machine(deed, "libnew-dev")
    assert done.returncode != 0 and message in done.stderr
    assert os.listdir(machine.folder.parent) == []


def test_packages_that_this_release_lacks(machine):
    done = machine(":", "libold1-dev|libold2-dev")
    assert done.returncode == 1 and "this release has none of: libold1-dev|libold2-dev" in done.stderr


def test_another_system(machine, tmp_path):
    for tool in ("dirname", "mktemp", "rm", "find", "basename"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    done = machine(":", "libnew-dev", path=str(tmp_path / "bin"))
    assert (done.returncode, done.stderr) == (1, "not a Debian system (apt-get is missing)\n")


def test_a_build_without_libraries_names_them(tmp_path):
    """CMake must search nowhere and not fetch."""
    nowhere = ["-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF", "-DTMETER_FETCH=OFF"]
    tools = {"C_COMPILER": "cc", "CXX_COMPILER": "c++", "MAKE_PROGRAM": "ninja", "AR": "ar"}
    nowhere += [f"-DCMAKE_{name}={shutil.which(tool)}" for name, tool in tools.items()]
    command = ["cmake", "-S", PARTS, "-B", tmp_path, "-G", "Ninja", *nowhere]
    done = subprocess.run(command, capture_output=True, text=True)
    message = " ".join(done.stderr.split())
    assert done.returncode == 1, message
    assert "boost/url.hpp, lib:boost_program_options, toml++/toml.h, " in message and "utf8proc.h cannot be found." in message
    assert "apt-get install libboost1.81-dev libboost-program-options1.81-dev libtomlplusplus-dev " in message and "|" not in message
