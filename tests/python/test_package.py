"""The installed wheel: its contents, the cost of importing it, its types."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE, BUILD = Path(os.environ["SOURCE"]), Path(os.environ["BUILD"])
FIXTURES = Path(os.environ["FIXTURES"])
PROGRAM = Path(sys.prefix) / "bin/tmeter"


def run(*command, **environment):
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, cwd="/"
    )


def python(code, **environment):
    done = run(sys.executable, "-c", code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_one_wheel_for_every_python_on_manylinux():
    (wheel,) = (BUILD / "python").glob("tmeter-*.whl")
    name, version, interpreter, abi, platform = wheel.stem.split("-")
    assert (interpreter, abi) == ("py3", "none")
    assert platform.startswith("manylinux_2_") and platform.endswith("_x86_64")


def test_the_installed_package_is_tested():
    import tmeter

    assert Path(tmeter.__file__).is_relative_to(sys.prefix)
    from tmeter.program import program_path

    assert program_path() == PROGRAM.resolve()


def test_importing_is_quick_and_imports_no_torch():
    # Processor time, measured several times because the machine may be busy.
    code = "import time; s=time.process_time(); import tmeter; print(time.process_time()-s)"
    assert any(float(python(code)) <= 0.05 for _ in range(30))
    loaded = python("import tmeter, sys; print([m for m in ('torch','pandas') if m in sys.modules])")
    assert loaded == "[]"


def test_a_file_needs_no_torch_and_no_pandas():
    model = FIXTURES / "models/resnet50.pt2"
    code = f"""
import sys; sys.modules["torch"] = None; sys.modules["pandas"] = None
import tmeter
r = tmeter.analyze({str(model)!r})
print(r.total("params"), r.total("macs"))
try: r.modules
except tmeter.UsageError as e: print(e)
try: tmeter.analyze(object())
except tmeter.TorchError as e: print(e)
"""
    lines = python(code).splitlines()
    # torchvision's documentation: 25,557,032 parameters; FlopCounterMode: 8,178,368,512 FLOPs.
    assert lines[0] == "25557032 4089184256"
    assert "pip install pandas" in lines[1]
    assert "pip install torch" in lines[2]


def test_the_console_script_is_the_native_program():
    assert PROGRAM.read_bytes()[:4] == b"\x7fELF"
    import tmeter

    assert tmeter.__version__ in run(PROGRAM, "--version").stdout


def test_torchscript_is_read_with_the_installed_torch():
    done = run(PROGRAM, str(FIXTURES / "torchscript/acme.pt"), "--report", "json")
    assert done.returncode == 0, done.stderr


def test_libraries_of_the_build_machine_are_brought_along():
    names = {p.name.split(".so")[0] for p in (Path(sys.prefix) / "lib/tmeter/libs").iterdir()}
    assert {"libsimdjson", "libhwy"} <= names
    for program in (PROGRAM, Path(sys.prefix) / "lib/tmeter/programs/measure-machine"):
        listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        assert "not found" not in listed
    listed = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
    assert "/lib/tmeter/libs/libsimdjson" in listed  # not the system's library, which a user may lack


def test_without_torch_a_torchscript_file_names_the_package_to_install(tmp_path):
    """The wheel in a venv without other packages."""
    (wheel,) = (BUILD / "python").glob("tmeter-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    target = tmp_path / "bare/bin/python"
    install = ["-m", "pip", "--python", target, "install", "-q", "--no-index", "--no-deps", wheel]
    subprocess.run([sys.executable, *install], check=True)
    done = run(tmp_path / "bare/bin/tmeter", str(FIXTURES / "torchscript/acme.pt"))
    assert done.returncode in (4, 5)
    assert "pip install torch==" in done.stderr
    assert done.stdout == ""


#: The dependencies of ``pip install torch`` that the CPU needs.
TORCH_ALONE = (
    "torch torchgen functorch nvidia sympy mpmath networkx jinja2 markupsafe fsspec filelock setuptools"
).split()
FIVE_LINES = """
import torch, tmeter
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(7200, 10))
result = tmeter.analyze(model, inputs=(3, 32, 32))
print(result)
print(tmeter.analyze(torch.jit.script(model), inputs="1x3x32x32").total("macs"))
"""


def test_in_a_fresh_venv_with_torch_alone(tmp_path):
    """No numpy, no pandas. 8 · 27 · 30² + 7200 · 10 MACs."""
    (wheel,) = (BUILD / "python").glob("tmeter-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "fresh"], check=True)
    target = tmp_path / "fresh/bin/python"
    install = ["-m", "pip", "--python", target, "install", "-q", "--no-index", "--no-deps", wheel]
    subprocess.run([sys.executable, *install], check=True)
    (site,) = (tmp_path / "fresh/lib").glob("python3*/site-packages")
    import torch

    packages = Path(torch.__file__).parent.parent
    for name in [*TORCH_ALONE, "typing_extensions.py"]:
        (site / name).symlink_to((packages / name).resolve())
    done = run(target, "-W", "ignore", "-c", FIVE_LINES)
    assert done.returncode == 0, done.stderr
    assert "MACs 266,400" in done.stdout and "by dispatch on fake tensors" in done.stdout
    assert done.stdout.splitlines()[-1] == "266400"


def test_python_dash_m_runs_the_program():
    ours = run(sys.executable, "-m", "tmeter", "--version").stdout
    assert ours == run(PROGRAM, "--version").stdout


def test_mypy_strict_finds_no_error():
    config = SOURCE / "pyproject.toml"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", BUILD / "python/mypy"],
        cwd=SOURCE,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_a_user_s_code_is_checked_against_the_installed_types(tmp_path):
    (tmp_path / "use.py").write_text(
        "import tmeter\nr = tmeter.analyze('m.pt2')\nn: str = r.total('macs')\nr.nothing\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "c", "use.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "Incompatible types in assignment" in done.stdout
    assert 'has no attribute "nothing"' in done.stdout


def test_the_page_of_calls_is_that_of_the_package():
    sys.path.insert(0, str(SOURCE / "tests/python"))
    import api_page

    written = (SOURCE / "docs/python-api.md").read_text()
    assert api_page.page() == written, "python tests/python/api_page.py > docs/python-api.md"


def test_a_missing_program_is_reported():
    code = "import tmeter\ntry: tmeter.analyze('x.pt2')\nexcept tmeter.ProgramMissingError as e: print(e)"
    message = python(code, TMETER_PROGRAM="/nowhere/tmeter")
    assert "/nowhere/tmeter" in message and "install the wheel again" in message


@pytest.mark.parametrize("seconds", [0.7])
def test_ctrl_c_ends_the_program(tmp_path, seconds):
    """A stand-in for a long run: a program that sleeps and leaves a marker when a signal ends it."""
    marker = tmp_path / "ended"
    stub = tmp_path / "stub"
    stub.write_text(f"#!/bin/sh\ntrap 'touch {marker}; exit 130' INT\ntouch {tmp_path}/up\n"
                    "while :; do sleep 0.05; done\n")
    stub.chmod(0o755)
    code = "import tmeter\ntry: tmeter.analyze('x.pt2')\nexcept KeyboardInterrupt: print('interrupted')"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMETER_PROGRAM": str(stub)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "up").exists():
        time.sleep(0.02)
    child.send_signal(2)  # like a notebook: only Python receives the signal
    assert child.communicate(timeout=20)[0].strip() == "interrupted"
    assert marker.exists()


def test_a_crash_is_an_exception_with_the_message(tmp_path):
    stub = tmp_path / "stub"
    stub.write_text("#!/bin/sh\necho 'tmeter: last words' >&2\nkill -SEGV $$\n")
    stub.chmod(0o755)
    code = "import tmeter\ntry: tmeter.analyze('x.pt2')\nexcept tmeter.CrashError as e: print(e)"
    assert python(code, TMETER_PROGRAM=str(stub)) == (
        "the native program was ended by SIGSEGV. last words"
    )
